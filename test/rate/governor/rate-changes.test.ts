import { describe, expect, test } from 'vitest';
import {
  approached,
  probingGrowth,
  searchedRate,
  startingGrowth,
} from '../../../src/rate/governor/rate-changes.ts';

describe('a rate grows', () => {
  test('at the start to the double in half a second, or in four reactions where those are longer', () => {
    expect(startingGrowth(0.5, 50)).toBeCloseTo(2);
    expect(startingGrowth(1.2, 300)).toBeCloseTo(2);
  });

  test.each([
    [0, 40],
    [1.25, 50],
    [2.5, 60],
  ])('in a search from what was fine to what failed: after %d s to %d', (seconds, rate) => {
    expect(searchedRate(40, 60, seconds, 100)).toBeCloseTo(rate);
  });

  test('in a search on from what failed', () => {
    expect(searchedRate(40, 60, 4, 100)).toBeGreaterThan(60);
  });

  test('in a probe slowly at first, the later news comes the slower, and doubles after that', () => {
    expect(probingGrowth(0, 0)).toBe(1);
    expect(probingGrowth(1.5, 0)).toBeCloseTo(1.25);
    expect(probingGrowth(3, 0)).toBeCloseTo(2);
    expect(probingGrowth(4.5, 0)).toBeCloseTo(4);
    expect(probingGrowth(3, 600)).toBeLessThan(2);
  });

  test('towards a goal and never beyond', () => {
    expect(approached(10, 20, 1, 5)).toBe(12);
    expect(approached(10, 20, 100, 5)).toBe(20);
  });
});
