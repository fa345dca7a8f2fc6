import { expect, test } from 'vitest';
import { QuotaExhaustion } from '../../../../src/engine/rate/governor/quota-exhaustion.ts';

test('a quota of hours gives no rate to spread calls at', () => {
  const minute = 60_000;
  const begin = 30_000_000 * minute;
  const exhaustion = new QuotaExhaustion(begin);
  exhaustion.begin(begin + minute);
  const until = begin + 180 * minute;
  for (let at = begin + minute; at < until; ) at = exhaustion.nextTest(at, at);
  expect(exhaustion.end(until, 5_000)).toEqual({ lastedMs: 179 * minute });
  expect(exhaustion.periodMs).toBeUndefined();
});
