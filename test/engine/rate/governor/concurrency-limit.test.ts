import { describe, expect, test } from 'vitest';
import { ConcurrencyLimit, mostConcurrency } from '../../../../src/engine/rate/governor/concurrency-limit.ts';
import type { Traffic } from '../../../../src/engine/rate/governor/traffic.ts';

const second = 1_000;
const circumstances = { sending: 100, reactionMs: 100, isStated: false };

/** Reports calls of this latency, and this many in flight, for some seconds. */
function calls(
  concurrency: ConcurrencyLimit,
  from: number,
  seconds: number,
  latencyMs: number,
  active: number,
): void {
  for (let now = from; now < from + seconds * second; now += 100) {
    const accepted = Math.max(1, Math.round((active * 100) / latencyMs));
    const traffic: Traffic = { accepted, rejected: 0, durationMs: accepted * latencyMs, active, stated: [] };
    concurrency.update(now, traffic, circumstances);
  }
}

const concurrencyOf = (start: number) => new ConcurrencyLimit(0, start);

describe('calls in flight', () => {
  test('rise while all of them are used', () => {
    const concurrency = concurrencyOf(10);
    calls(concurrency, 0, 5, 50, 10);
    expect(concurrency.limit).toBeGreaterThan(10);
  });

  test('stay while they are not', () => {
    const concurrency = concurrencyOf(50);
    calls(concurrency, 0, 5, 50, 10);
    expect(concurrency.limit).toBe(50);
  });

  test('never rise above what is allowed', () => {
    const concurrency = concurrencyOf(mostConcurrency - 2);
    calls(concurrency, 0, 30, 50, mostConcurrency);
    expect(concurrency.limit).toBe(mostConcurrency);
  });

  test('fall when the API gets slower with them, down to what the rate needs', () => {
    const concurrency = concurrencyOf(50);
    calls(concurrency, 0, 5, 50, 10);
    calls(concurrency, 5 * second, 10, 500, 50);
    expect(concurrency.limit).toBeLessThan(20);
    expect(concurrency.limit).toBeGreaterThanOrEqual(2);
  });

  test('say nothing while there are no calls', () => {
    const concurrency = concurrencyOf(50);
    for (let now = 0; now < 60 * second; now += 100)
      concurrency.update(
        now,
        { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] },
        circumstances,
      );
    expect(concurrency.limit).toBe(50);
  });

  test('are no more than the API states, until it has stated nothing for two minutes', () => {
    const concurrency = concurrencyOf(50);
    const nothing: Traffic = { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };
    concurrency.update(
      0,
      { ...nothing, stated: [{ name: 'one', unit: 'concurrent-requests', quota: 5 }] },
      circumstances,
    );
    expect(concurrency.limit).toBe(5);
    concurrency.update(121 * second, nothing, circumstances);
    expect(concurrency.limit).toBe(50);
  });
});
