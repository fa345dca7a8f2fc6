import { describe, expect, test } from 'vitest';
import { BucketFit, CostlyRefusals } from '../../../src/rate/governor/costly-refusals.ts';
import { freeRefusals, type Refusal } from '../../../src/rate/governor/refusals.ts';

const refusal = (sending: number, more: Partial<Refusal> = {}): Refusal => ({
  sending,
  cycle: undefined,
  isCostly: false,
  ...more,
});
const cycle = (activeSeconds: number, accepted: number, waitedSeconds = 0) => ({
  accepted,
  activeSeconds,
  waitedSeconds,
});

describe('a refusal that costs nothing', () => {
  test('of a search tells what was accepted since the one before, or else a rate well below', () => {
    expect(freeRefusals.ofSearch(undefined, refusal(60)).held).toBe(48);
    const told = freeRefusals.ofSearch(undefined, refusal(60, { cycle: cycle(10, 500) }));
    expect(told).toEqual({ held: 50, failed: 60 });
  });

  test.each([
    [1_000, 42.5],
    [10_000, 47.5],
  ])('of a rate that was held for %d ms leaves %d of 50', (heldMs, held) => {
    expect(freeRefusals.ofHold(50, refusal(50), heldMs).held).toBe(held);
  });

  test.each([
    ['a little', 66, 51.5],
    ['more, when the probe had come far', 100, 55],
  ])('of a probe lets the rate come %s nearer to what failed', (_, sending, expected) => {
    const { held, failed } = freeRefusals.ofProbe({ held: 48, failed: 50 }, refusal(sending));
    expect(held).toBe(48);
    expect(failed).toBeCloseTo(expected);
  });

  test('never leaves more than was sent', () => {
    const refused = refusal(40, { cycle: cycle(10, 500) });
    for (const { held, failed } of [
      freeRefusals.ofSearch(60, refused),
      freeRefusals.ofHold(60, refused, 10_000),
      freeRefusals.ofProbe({ held: 60, failed: 70 }, refused),
    ]) {
      expect(held).toBeLessThanOrEqual(40);
      expect(failed).toBeLessThanOrEqual(40);
    }
  });
});

describe('a refusal that costs a wait', () => {
  const costly = (sending: number): Refusal => refusal(sending, { isCostly: true, cycle: cycle(2, 100, 1) });
  const judge = () => new CostlyRefusals(new BucketFit());

  test('of a search leaves a little less where nothing fits yet', () => {
    expect(judge().ofSearch(undefined, costly(50))).toEqual({ held: 40, failed: 50 });
    expect(judge().ofSearch(45, costly(50)).held).toBe(45);
  });

  test('of a rate that was held leaves hardly less', () => {
    const { held, failed } = judge().ofHold(50, costly(50), 20_000);
    expect(held).toBe(46);
    expect(failed).toBe(50);
  });

  test('of a rate that had just begun leaves less, and each time it happens far less', () => {
    const refusals = judge();
    const shares = [100, 100, 100, 100].map((sending) => refusals.ofHold(100, costly(sending), 300).held);
    expect(shares).toEqual([85, 70, 50, 50]);
    refusals.ofHold(50, costly(50), 20_000);
    expect(refusals.ofHold(100, costly(100), 300).held).toBe(85);
  });

  test('of a probe leaves what was held, to which the rate goes back when more is refused at once', () => {
    const refusals = judge();
    expect(refusals.ofProbe({ held: 48, failed: 50 }, costly(80))).toEqual({ held: 48, failed: 51 });
    expect(refusals.ofHold(52, costly(52), 300).held).toBeCloseTo(48);
  });

  test('tells the limit where a bucket explains it and the one before', () => {
    const fit = new BucketFit();
    const steps = (rates: readonly number[]): void => {
      for (const [index, rate] of rates.entries()) fit.count(0.1, rate / 10, index === rates.length - 1);
      fit.count(1, 0, false);
    };
    // A bucket of 10 that gains 50 a second.
    steps([20, 30, 40, 50, 60, 70, 80, 90]);
    steps([...Array.from({ length: 10 }, () => 45), ...Array.from({ length: 20 }, () => 55)]);
    const { held } = new CostlyRefusals(fit).ofSearch(undefined, costly(55));
    expect(held).toBeGreaterThan(47);
    expect(held).toBeLessThanOrEqual(52.8);
  });
});
