import { expect, test } from 'vitest';
import { ConcurrencyLimit, mostConcurrency } from '../../../../src/engine/rate/governor/concurrency-limit.ts';
import type { Traffic } from '../../../../src/engine/rate/governor/traffic.ts';
import { nothing } from './no-traffic.ts';

const second = 1_000;

/** What is allowed from this start, after phases of some seconds with this latency, and with this many calls in flight. */
function limitAfter(
  start: number,
  ...phases: readonly (readonly [seconds: number, latencyMs: number, active: number])[]
) {
  const concurrency = new ConcurrencyLimit(0, start);
  let now = 0;
  for (const [seconds, latencyMs, active] of phases)
    for (const end = now + seconds * second; now < end; now += 100) {
      const accepted = active && Math.max(1, Math.round((active * 100) / latencyMs));
      const traffic: Traffic = { ...nothing, accepted, durationMs: accepted * latencyMs, active };
      concurrency.update(now, traffic, { sending: 100, reactionMs: 100, isStated: false });
    }
  return concurrency.limit;
}

test('calls in flight rise while all of them are used', () => {
  expect(limitAfter(10, [5, 50, 10])).toBeGreaterThan(10);
});

test.each([
  ['stay while they are not', 50, [5, 50, 10], 50],
  ['say nothing while there are no calls', 50, [60, 50, 0], 50],
  ['never rise above what is allowed', mostConcurrency - 2, [30, 50, mostConcurrency], mostConcurrency],
] as const)('calls in flight %s', (_title, start, phase, limit) => {
  expect(limitAfter(start, phase)).toBe(limit);
});

test('calls in flight fall when the API gets slower with them, down to what the rate needs', () => {
  const limit = limitAfter(50, [5, 50, 10], [10, 500, 50]);
  expect(limit).toBeLessThan(20);
  expect(limit).toBeGreaterThanOrEqual(2);
});

test('calls in flight are no more than the API states, until it has stated nothing for two minutes', () => {
  const concurrency = new ConcurrencyLimit(0, 50);
  const circumstances = { sending: 100, reactionMs: 100, isStated: false };
  const stated: Traffic['stated'] = [{ name: 'one', unit: 'concurrent-requests', quota: 5 }];
  concurrency.update(0, { ...nothing, stated }, circumstances);
  expect(concurrency.limit).toBe(5);
  concurrency.update(121 * second, nothing, circumstances);
  expect(concurrency.limit).toBe(50);
});
