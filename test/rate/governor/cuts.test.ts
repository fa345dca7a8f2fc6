import { describe, expect, test } from 'vitest';
import { cutAfterStart, cutAgain, cutAtOnce, cutToHeld } from '../../../src/rate/governor/rate-changes.ts';

describe('a rate that was refused is cut', () => {
  test.each([
    ['below what is held, so that an allowance gathers', cutToHeld(100, 0), 90],
    ['hardly below it when a wait has let it gather', cutToHeld(100, 1_000), 98],
    ['to half after the start', cutAfterStart(100), 50],
    ['a little after a search that had just begun', cutAtOnce(100), 85],
    ['to less than what was accepted of one that was still too much', cutAgain(100, 60), 51],
    ['to half of that when nothing is known', cutAgain(100, undefined), 50],
    ['by something in any case', cutAgain(100, 99), 70],
    ['to an eighth at least', cutAgain(100, 1), 12.5],
  ])('%s', (_, rate, expected) => {
    expect(rate).toBeCloseTo(expected);
  });
});
