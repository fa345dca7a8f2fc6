import { describe, expect, test } from 'vitest';
import type { StatedLimit } from '../../../../src/engine/api/limits.ts';
import { StatedPace, type StatedRate } from '../../../../src/engine/rate/governor/stated-pace.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const now = 1_800_057_600_000;
const unlimited = Number.POSITIVE_INFINITY;

function allowed(limits: readonly Partial<StatedLimit>[], active = 0): StatedRate {
  const pace = new StatedPace();
  const stated = limits.map((limit, index) => ({ name: String(index), unit: 'requests' as const, ...limit }));
  pace.update(now, stated, false);
  return pace.allowed(now, active);
}

describe('what the API states', () => {
  test.each<[title: string, limits: Partial<StatedLimit>[], rate: number]>([
    ['a quota and a window are spread evenly', [{ quota: 100, windowMs: 10 * second }], 9.86],
    [
      'the strictest limit counts',
      [
        { quota: 100, windowMs: second },
        { quota: 60, windowMs: minute },
      ],
      0.988,
    ],
    ['more cannot remain than the quota', [{ quota: 61, remaining: 1e9, resetMs: 62 * second }], 1],
  ])('%s', (_, limits, rate) => {
    expect(allowed(limits).rate).toBeCloseTo(rate);
  });

  test('calls in flight are not counted as remaining', () => {
    expect(allowed([{ remaining: 310, resetMs: 31 * second }], 10).rate).toBeCloseTo(10);
  });

  test('a window is used up a second before its end', () => {
    expect(allowed([{ remaining: 28, resetMs: 15 * second }]).rate).toBeCloseTo(2);
    const pace = new StatedPace();
    const reset = { name: 'one', unit: 'requests' as const, remaining: 2 };
    pace.update(now, [{ ...reset, resetMs: 15 * second }], false);
    pace.update(now + 14 * second, [{ ...reset, resetMs: second }], false);
    expect(pace.allowed(now + 14 * second, 0).rate).toBeCloseTo(4);
    // All that remain are in flight.
    expect(pace.allowed(now + 14 * second, 2).rate).toBeCloseTo(0.5);
  });

  test('what remains for all rows is not spread, although rows are counted as finished later than their calls', () => {
    const within = (rows: number) => {
      const pace = new StatedPace();
      pace.update(
        now,
        [{ name: 'one', unit: 'requests', resetMs: 15 * second, remaining: 100 }],
        false,
        rows,
      );
      return pace.allowed(now, 1);
    };
    expect(within(105)).toEqual({ ceiling: 330, isEnough: true });
    expect(within(106).isEnough).toBeUndefined();
  });

  test('when nothing remains, nothing is called until the reset', () => {
    expect(allowed([{ remaining: 0, resetMs: minute }])).toEqual({ ceiling: 1, restUntil: now + minute });
  });

  test('a window of hours is not spread, but its last calls are not sent at once', () => {
    expect(allowed([{ remaining: 5_000, resetMs: hour }])).toEqual({ ceiling: 5_000 });
    expect(allowed([{ remaining: 3, resetMs: hour }])).toEqual({ ceiling: 3 });
  });

  test.each<[title: string, limit: Partial<StatedLimit>]>([
    ['a quota without a window', { quota: 100 }],
    ['an end that is too near', { quota: 100, remaining: 1, resetMs: second }],
    ['an end that has passed', { quota: 100, remaining: 0, resetMs: 0 }],
    ['a limit of calls in flight', { quota: 100, windowMs: second, unit: 'concurrent-requests' }],
  ])('%s gives no rate', (_, limit) => {
    expect(allowed([limit])).toEqual({ ceiling: unlimited });
  });
});

describe('the end of a window', () => {
  /** What is allowed after answers at these milliseconds, each with what remains and the whole seconds until the end. */
  function afterAnswers(...answers: readonly [at: number, remaining: number, seconds: number][]): StatedRate {
    const pace = new StatedPace();
    let last = now;
    for (const [at, remaining, seconds] of answers) {
      last = now + at;
      const limit = {
        name: 'one',
        unit: 'requests',
        quota: 600,
        remaining,
        resetMs: seconds * second,
      } as const;
      pace.update(last, [limit], false);
    }
    return pace.allowed(last, 0);
  }

  test('is the earliest one stated', () => {
    expect(afterAnswers([0, 500, 61], [100, 499, 60], [200, 0, 60]).restUntil).toBe(now + 60_100);
  });

  test('does not move because seconds are rounded up', () => {
    expect(afterAnswers([0, 600, 60], [59_500, 0, 1]).restUntil).toBe(now + 60_000);
  });

  test('is a usual length after the first call of a window, as whole seconds may be late', () => {
    expect(afterAnswers([0, 599, 16], [14_000, 0, 2]).restUntil).toBe(now + 15_000);
    const last: [number, number, number] = [0, 0, 20];
    expect(afterAnswers(last, [20_300, 599, 16], [34_000, 0, 2]).restUntil).toBe(now + 35_300);
    // The `Date` of an answer is up to a second early.
    expect(afterAnswers(last, [20_300, 599, 16], [20_990, 590, 16], [34_000, 0, 2]).restUntil).toBe(
      now + 35_300,
    );
    // Others may have called first.
    expect(afterAnswers(last, [20_300, 590, 16], [34_000, 0, 3]).restUntil).toBe(now + 36_300);
  });

  test('says nothing while it moves along with the calls', () => {
    expect(afterAnswers([0, 600, 60], [10_000, 500, 60], [20_000, 400, 60])).toEqual({ ceiling: unlimited });
  });
});

test.each([
  [[], 1, 1],
  [[20], 21, 0.99],
  [[20, 40, 60], 61, 0.97],
  [[20, 40], 1_200, 1],
  // Not believed for a while after four refusals in ten seconds.
  [[20, 21, 22, 23], 24, undefined],
  [[20, 21, 22, 23], 90, 0.97],
])(
  'with refusals in spite of it at %o s, a stated limit is used at %d s to this share: %d',
  (refusedAt, at, share) => {
    const limit: StatedLimit = { name: 'one', unit: 'requests', quota: 100, windowMs: 10 * second };
    const pace = new StatedPace();
    pace.update(now, [limit], false);
    for (const seconds of refusedAt) pace.update(now + seconds * second, [limit], true);
    pace.update(now + at * second, [limit], false);
    const { rate } = pace.allowed(now + at * second, 0);
    expect(rate && Math.round(rate / 0.0986) / 100).toBe(share);
  },
);
