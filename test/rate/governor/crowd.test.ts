import { describe, expect, test } from 'vitest';
import { Crowd } from '../../../src/rate/governor/crowd.ts';
import type { Traffic } from '../../../src/rate/governor/traffic.ts';

const second = 1_000;
const circumstances = { sending: 100, reactionMs: 100, isStated: false };

/** Tells the crowd of calls of a latency, so many in flight, for some seconds. */
function calls(crowd: Crowd, from: number, seconds: number, latencyMs: number, active: number): void {
  for (let now = from; now < from + seconds * second; now += 100) {
    const accepted = Math.max(1, Math.round((active * 100) / latencyMs));
    const traffic: Traffic = { accepted, rejected: 0, durationMs: accepted * latencyMs, active, stated: [] };
    crowd.update(now, traffic, circumstances);
  }
}

const crowdOf = (start: number, most = 200) => new Crowd(0, { start, most });

describe('calls in flight', () => {
  test('rise while all of them are used', () => {
    const crowd = crowdOf(10);
    calls(crowd, 0, 5, 50, 10);
    expect(crowd.limit).toBeGreaterThan(10);
  });

  test('stay while they are not', () => {
    const crowd = crowdOf(50);
    calls(crowd, 0, 5, 50, 10);
    expect(crowd.limit).toBe(50);
  });

  test('never rise above what is allowed', () => {
    const crowd = crowdOf(10, 12);
    calls(crowd, 0, 30, 50, 12);
    expect(crowd.limit).toBe(12);
  });

  test('fall when the API gets slower with them, down to what the rate needs', () => {
    const crowd = crowdOf(50);
    calls(crowd, 0, 5, 50, 10);
    calls(crowd, 5 * second, 10, 500, 50);
    expect(crowd.limit).toBeLessThan(20);
    expect(crowd.limit).toBeGreaterThanOrEqual(2);
  });

  test('tell nothing while there are none', () => {
    const crowd = crowdOf(50);
    for (let now = 0; now < 60 * second; now += 100)
      crowd.update(now, { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] }, circumstances);
    expect(crowd.limit).toBe(50);
  });

  test('are no more than the API states, until it has not for two minutes', () => {
    const crowd = crowdOf(50);
    const nothing: Traffic = { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };
    crowd.update(
      0,
      { ...nothing, stated: [{ name: 'one', unit: 'concurrent-requests', quota: 5 }] },
      circumstances,
    );
    expect(crowd.limit).toBe(5);
    crowd.update(121 * second, nothing, circumstances);
    expect(crowd.limit).toBe(50);
  });
});
