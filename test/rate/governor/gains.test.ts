import { describe, expect, test } from 'vitest';
import { type Cycle, gainOf } from '../../../src/rate/governor/refusals.ts';

const cycle = (activeSeconds: number, accepted: number, waitedSeconds = 0): Cycle => ({
  accepted,
  activeSeconds,
  waitedSeconds,
});

describe('what an allowance gains', () => {
  test('is what was accepted between two refusals', () => {
    expect(gainOf(cycle(10, 500))?.perSecond).toBe(50);
  });

  test.each<[why: string, cycle: Cycle]>([
    ['it was too short', cycle(0.5, 50)],
    ['too few calls were made', cycle(10, 1)],
    ['no calls were made', cycle(0, 50)],
    ['the API asked to wait, and nobody knows what gathered meanwhile', cycle(10, 500, 1)],
  ])('is not told by a cycle when %s', (_, cycle) => {
    expect(gainOf(cycle)).toBeUndefined();
  });

  test('is known the better the more calls were counted', () => {
    const atMost = (accepted: number) => gainOf(cycle(10, accepted))?.atMost ?? 0;
    expect(atMost(30) / 3).toBeCloseTo(1.1);
    expect(atMost(3_000) / 300).toBeCloseTo(1.01);
  });
});
