import { describe, expect, test } from 'vitest';
import {
  type Cycle,
  gainOf,
  KnownRates,
  type RefusedRate,
} from '../../../../src/engine/rate/governor/known-rates.ts';

const cycle = (activeSeconds: number, accepted: number, waitedSeconds = 0): Cycle => ({
  accepted,
  activeSeconds,
  waitedSeconds,
});
const refusal = (sending: number, more: Partial<RefusedRate> = {}): RefusedRate => ({
  sending,
  cycle: undefined,
  isCostly: false,
  ...more,
});

/** What is known after one rate was held and another one failed. */
function known(held: number, failed = held): KnownRates {
  const rates = new KnownRates();
  rates.begin(failed);
  rates.searchFailed(refusal(held, { cycle: cycle(10, 10 * held) }));
  return rates;
}

describe('what an allowance gains', () => {
  test('is the number of calls accepted between two refusals', () => {
    expect(gainOf(cycle(10, 500))?.perSecond).toBe(50);
  });

  test('may or may not include the time of a wait', () => {
    const gain = gainOf(cycle(9, 450, 1));
    expect(gain?.perSecond).toBe(45);
    expect(gain?.atMost).toBeGreaterThan(50);
  });

  test.each<[why: string, cycle: Cycle]>([
    ['it was too short', cycle(0.5, 50)],
    ['too few calls were made', cycle(10, 1)],
    ['no calls were made', cycle(0, 50)],
  ])('is not known from a cycle when %s', (_, cycle) => {
    expect(gainOf(cycle)).toBeUndefined();
  });

  test('is known better the more calls were counted', () => {
    const atMost = (accepted: number) => gainOf(cycle(10, accepted))?.atMost ?? 0;
    expect(atMost(30) / 3).toBeCloseTo(1.1);
    expect(atMost(3_000) / 300).toBeCloseTo(1.01);
  });
});

describe('a refusal', () => {
  test('of a search shows what was accepted since the previous refusal, or else leads to a rate well below', () => {
    expect(new KnownRates().searchFailed(refusal(60))).toBeCloseTo(50.4);
    const rates = new KnownRates();
    expect(rates.searchFailed(refusal(60, { cycle: cycle(10, 550) }))).toBe(55);
    expect(rates.failed).toBe(60);
  });

  test.each([
    [1_000, 42.5],
    [10_000, 48],
  ])('after a rate was held for %d ms leaves %d of 50', (heldMs, held) => {
    expect(known(50).holdFailed(refusal(50), heldMs)).toBeCloseTo(held);
  });

  test.each([
    ['a little', 66, 52.02],
    ['more, when the probe had come far', 100, 55.55],
  ])('of a probe moves the failed rate up %s', (_, sending, expected) => {
    const rates = known(50);
    const failed = rates.failed ?? 0;
    expect(rates.probeFailed(refusal(sending))).toBe(50);
    expect(failed).toBeCloseTo(50.5);
    expect(rates.failed).toBeCloseTo(expected, 1);
  });

  test('never leaves a higher rate than was sent', () => {
    const refused = refusal(40, { cycle: cycle(10, 500) });
    expect(known(60).searchFailed(refused)).toBe(40);
    expect(known(60).holdFailed(refused, 10_000)).toBe(40);
    expect(known(60).probeFailed(refused)).toBe(40);
  });
});

describe('the rate that failed is approached', () => {
  /** The held rate after this many seconds. */
  const approachedFor = (rates: KnownRates, seconds: number): number => {
    let rate = rates.held ?? 0;
    for (let step = 0; step < seconds * 10; step += 1) rate = rates.approach(rate, 0.1);
    return rate;
  };
  const failed = (isCostly: boolean) => {
    const rates = new KnownRates();
    rates.searchFailed(refusal(60, { isCostly }));
    return rates;
  };

  test('but never reached', () => {
    const rate = approachedFor(failed(false), 60);
    expect(rate).toBeGreaterThan(58);
    expect(rate).toBeLessThan(60);
  });

  test('more slowly where the next refusal costs a wait', () => {
    expect(approachedFor(failed(true), 3)).toBeLessThan(approachedFor(failed(false), 3));
  });
});
