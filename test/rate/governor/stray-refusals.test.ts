import { describe, expect, test } from 'vitest';
import { StrayRefusals } from '../../../src/rate/governor/stray-refusals.ts';

const beatMs = 100;

/** An API of which the rate of 50 calls/s was fine, and that is called with half of that. */
function slowed() {
  const strays = new StrayRefusals();
  let now = 0;
  const go = (calls: number, rejected: number, rate = 25): number => {
    now += beatMs;
    const met = {
      accepted: calls - rejected,
      rejected,
      rejectedWith: 429,
      durationMs: 0,
      active: 0,
      stated: [],
    };
    const time = { now, passedMs: beatMs, reactionMs: beatMs };
    return strays.update(met, time, { rate, limit: rate, isSpread: false, isWaiting: false }).rejected;
  };
  return { strays, go };
}

/** Single refusals, one in a hundred calls, have brought the rate down, and come as often at the earlier one. */
function known() {
  const { strays, go } = slowed();
  go(5, 0, 50);
  for (let beat = 0; beat < 200 && !strays.isKnown; beat += 1) go(5, beat % 20 === 0 ? 1 : 0);
  return { strays, go };
}

describe('single refusals', () => {
  test('that come as often at the earlier rate have nothing to do with it', () => {
    const { strays, go } = known();
    expect(strays.isKnown).toBe(true);
    expect(go(5, 1)).toBe(0);
  });

  test('are none of a limit after it has refused many at once, which are obeyed', () => {
    const { go } = known();
    expect(go(10, 8)).toBe(8);
    // The rate was lowered for those: they say nothing of the lower one.
    for (let beat = 0; beat < 10; beat += 1) expect(go(5, beat % 5 === 0 ? 1 : 0)).toBe(0);
  });
});
