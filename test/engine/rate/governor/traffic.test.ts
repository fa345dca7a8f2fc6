import { describe, expect, test } from 'vitest';
import { CallTally, Reaction } from '../../../../src/engine/rate/governor/traffic.ts';
import { nothing } from './no-traffic.ts';

const stepMs = 100;

/** Counts this many steps, in which part of a rate is used. @returns the rate at the end */
function count(tally: CallTally, steps: number, rate: number, { part = 1, growth = 1 } = {}): number {
  let now = rate;
  for (let step = 0; step < steps; step += 1) {
    now *= growth;
    tally.count({ accepted: (part * now * stepMs) / 1_000, rejected: 0 }, stepMs, now);
  }
  return now;
}

describe('the used share of a rate', () => {
  test('is zero before the first call', () => {
    expect(new CallTally().usedShareOf(20)).toBe(0);
  });

  test.each([0.3, 1])('is the share that is called: %d', (part) => {
    const tally = new CallTally();
    count(tally, 20, 50, { part });
    expect(tally.usedShareOf(50)).toBeCloseTo(part);
  });

  test('is not less because the rate rises quickly', () => {
    const tally = new CallTally();
    const rate = count(tally, 20, 20, { growth: 1.15 });
    expect(tally.sentPerSecond).toBeLessThan(0.65 * rate);
    expect(tally.usedShareOf(rate)).toBeCloseTo(1);
  });

  test('is not less because the first call came late', () => {
    const tally = new CallTally();
    for (let step = 0; step < 50; step += 1) tally.count(nothing, stepMs, 20);
    count(tally, 5, 20);
    expect(tally.usedShareOf(20)).toBeCloseTo(1);
  });

  test('is not less because much more was allowed before', () => {
    const tally = new CallTally();
    count(tally, 100, 1_000, { part: 0.1 });
    expect(tally.usedShareOf(10)).toBeGreaterThanOrEqual(1);
  });
});

test('a process that was suspended for an hour does not expect late news', () => {
  const reaction = new Reaction(0);
  reaction.update(3_600_000, nothing);
  expect(reaction.lagMs).toBeLessThanOrEqual(100);
});
