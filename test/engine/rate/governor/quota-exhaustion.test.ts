import { describe, expect, test } from 'vitest';
import { QuotaExhaustion } from '../../../../src/engine/rate/governor/quota-exhaustion.ts';

const minute = 60_000;
const begin = 30_000_000 * minute;

/** Lets an exhaustion last until a time, with a test whenever one is due. @returns the last test */
function last(exhaustion: QuotaExhaustion, from: number, until: number): number {
  exhaustion.begin(from);
  let tested = from;
  for (let next = exhaustion.nextTest(from, from); next < until; next = exhaustion.nextTest(next, next))
    tested = next;
  return tested;
}

describe('a exhaustion', () => {
  test('is tested less and less often, at most 10 s apart in its first minute', () => {
    const exhaustion = new QuotaExhaustion(begin);
    const from = begin + 5_000;
    exhaustion.begin(from);
    const tests: number[] = [];
    for (let now = from; now < begin + 55_000; now = exhaustion.nextTest(now, now))
      tests.push((now - from) / 1_000);
    expect(tests).toEqual([0, 1, 2, 4, 8, 16, 26, 36, 46]);
  });

  test('that ends with the minute shows a window of a minute', () => {
    const exhaustion = new QuotaExhaustion(begin);
    last(exhaustion, begin + 20_000, begin + minute);
    expect(exhaustion.end(begin + minute + 250, 600)).toMatchObject({ perSecond: 10 });
    expect(exhaustion.periodMs).toBe(minute);
  });

  test('of hours gives no rate to spread calls at', () => {
    const exhaustion = new QuotaExhaustion(begin);
    last(exhaustion, begin + minute, begin + 180 * minute);
    const { lastedMs, perSecond } = exhaustion.end(begin + 180 * minute, 5_000);
    expect(lastedMs).toBe(179 * minute);
    expect(perSecond).toBeUndefined();
    expect(exhaustion.periodMs).toBeUndefined();
  });
});
