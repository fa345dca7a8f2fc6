import { describe, expect, test } from 'vitest';
import { type Cycle, Gains } from '../../src/governor/gains.ts';

const cycle = (activeSeconds: number, accepted: number, waitedSeconds = 0): Cycle => ({
  accepted,
  activeSeconds,
  waitedSeconds,
});

describe('what an allowance gains', () => {
  test('is what was accepted between two refusals', () => {
    expect(new Gains().add(cycle(10, 500))?.perSecond).toBe(50);
  });

  test.each<[why: string, cycle: Cycle]>([
    ['it was too short', cycle(0.5, 50)],
    ['too few calls were made', cycle(10, 1)],
    ['no calls were made', cycle(0, 50, 10)],
  ])('is not told by a cycle when %s', (_, cycle) => {
    expect(new Gains().add(cycle)).toBeUndefined();
  });

  test('is known the better the more calls were counted', () => {
    const atMost = (accepted: number) => new Gains().add(cycle(10, accepted))?.atMost ?? 0;
    expect(atMost(30) / 3).toBeCloseTo(1.1);
    expect(atMost(3_000) / 300).toBeCloseTo(1.01);
  });

  test('is told from the burst that a wait fills up by cycles of different lengths', () => {
    const gains = new Gains();
    // 50 a second, and 10 that gather while the API asks to wait for a second.
    gains.add(cycle(2, 110, 1));
    expect(gains.add(cycle(12, 610, 1))?.perSecond).toBeCloseTo(50);
  });

  test('lies between what a full and an empty allowance after a wait would mean, when one cycle is all there is', () => {
    const perSecond = new Gains().add(cycle(2, 110, 1))?.perSecond ?? 0;
    expect(perSecond).toBeGreaterThan(110 / 3);
    expect(perSecond).toBeLessThan(110 / 2);
  });
});
