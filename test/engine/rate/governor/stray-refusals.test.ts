import { describe, expect, test } from 'vitest';
import { StrayRefusals } from '../../../../src/engine/rate/governor/stray-refusals.ts';
import { nothing } from './no-traffic.ts';

const beatMs = 100;

/** An API for which 50 calls/s were fine, called at half of that. */
function slowed() {
  const strays = new StrayRefusals();
  let now = 0;
  const go = (calls: number, rejected: number, rate = 25): number => {
    now += beatMs;
    const met = { ...nothing, accepted: calls - rejected, rejected, rejectedWith: 429 };
    const time = { now, passedMs: beatMs, reactionMs: beatMs };
    return strays.update(met, time, { rate, limit: rate, isWaiting: false }).rejected;
  };
  return { strays, go };
}

/** Single refusals, one in a hundred calls, have lowered the rate, and come as often at the earlier rate. */
function known() {
  const { strays, go } = slowed();
  go(5, 0, 50);
  for (let beat = 0; beat < 200 && !strays.isKnown; beat += 1) go(5, beat % 20 === 0 ? 1 : 0);
  return { strays, go };
}

describe('single refusals', () => {
  test('of too few calls in a minute show nothing', () => {
    const { strays, go } = slowed();
    go(5, 0, 50);
    for (let beat = 0; beat < 200 && !strays.isTrying; beat += 1) go(5, beat % 20 === 0 ? 1 : 0);
    expect(strays.isTrying).toBe(true);
    for (let beat = 0; beat < 700; beat += 1) go(beat % 20 === 0 ? 1 : 0, 0);
    expect([strays.isTrying, strays.isKnown]).toEqual([false, false]);
  });

  test('that come as often at the earlier rate have nothing to do with it', () => {
    const { strays, go } = known();
    expect(strays.isKnown).toBe(true);
    expect(go(5, 1)).toBe(0);
  });

  test('are not taken for those of a limit that has refused many at once, and those are obeyed', () => {
    const { go } = known();
    expect(go(10, 8)).toBe(8);
    // The rate was lowered because of those refusals: they say nothing about the lower rate.
    for (let beat = 0; beat < 10; beat += 1) expect(go(5, beat % 5 === 0 ? 1 : 0)).toBe(0);
  });
});
