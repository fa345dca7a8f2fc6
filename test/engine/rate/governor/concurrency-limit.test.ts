import { expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../../../src/engine/rate/governor/concurrency-limit.ts';
import { nothing } from './no-traffic.ts';

test('calls in flight are no more than the API states, until it has stated nothing for two minutes', () => {
  const concurrency = new ConcurrencyLimit(0, 50);
  const circumstances = { sentPerSecond: 100, reactionMs: 100, isStated: false };
  const stated = [{ name: 'one', unit: 'concurrent-requests' as const, quota: 5 }];
  concurrency.update(0, { ...nothing, stated }, circumstances);
  expect(concurrency.limit).toBe(5);
  concurrency.update(121_000, nothing, circumstances);
  expect(concurrency.limit).toBe(50);
});
