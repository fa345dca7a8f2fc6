import { describe, expect, test } from 'vitest';
import { RetryQuota } from '../../../src/engine/worker/retry-quota.ts';
import { Random } from '../../simulation/random.ts';

interface Service {
  readonly rows: number;
  /** Whether this call fails. */
  readonly fails: (random: Random) => boolean;
  readonly workers?: number;
  readonly callsPerSecond?: number;
  readonly seconds?: number;
}

/** Calls rows at a steady rate, retries as soon as the quota permits. Times are simulated. */
function play({ rows, fails, workers = 1, callsPerSecond = 50, seconds = 600 }: Service) {
  const random = new Random(61);
  const quotas = Array.from({ length: workers }, () => new RetryQuota());
  for (const quota of quotas) quota.workers = workers;
  const retries: { readonly worker: number; dueAt: number }[] = [];
  const counts = { first: 0, retried: 0, done: 0, waits: 0, reasons: new Set<string>(), seconds: 0 };
  let now = 1_000_000;
  const end = now + seconds * 1_000;
  for (; counts.done < rows && now < end; now += 1_000 / callsPerSecond) {
    const place = retries.findIndex(({ dueAt }) => dueAt <= now);
    const [row] = place < 0 ? [] : retries.splice(place, 1);
    const worker = row?.worker ?? counts.first % workers;
    const quota = quotas[worker];
    if (quota === undefined) throw new Error('there is a quota');
    if (row === undefined && counts.first === rows) continue;
    const waitMs = row === undefined ? 0 : quota.take('run', now);
    if (waitMs > 0) {
      counts.waits += 1;
      retries.push({ worker, dueAt: now + waitMs });
      const wait = quota.wait(now);
      if (wait !== undefined) counts.reasons.add(`${wait.isAll} ${wait.reason}`);
      continue;
    }
    if (row === undefined) counts.first += 1;
    else counts.retried += 1;
    if (fails(random)) retries.push({ worker, dueAt: now });
    else {
      counts.done += 1;
      quota.noteSuccess('run', row !== undefined, now);
    }
  }
  return { ...counts, seconds: (now - end) / 1_000 + seconds };
}

describe('a run whose service', () => {
  test.each([0.01, 0.05, 0.1])('fails a few calls (%d) is not slowed down', (share) => {
    const { waits, done, retried } = play({ rows: 5_000, fails: (random) => random.chance(share) });
    expect(waits).toBe(0);
    expect([done, retried > 0]).toEqual([5_000, true]);
  });

  test.each([1, 5])('fails every call of %d workers gets a hundred retries, and two a second', (workers) => {
    const { retried, first } = play({ rows: 500, fails: () => true, workers, seconds: 60 });
    expect(first).toBe(500);
    expect(retried).toBeGreaterThan(60);
    expect(retried).toBeLessThanOrEqual(100 + 2 * 60 + workers);
  });

  test('fails nine of ten calls gets few more', () => {
    const { retried, first } = play({ rows: 20_000, fails: (random) => random.chance(0.9), seconds: 200 });
    const succeeded = first * 0.1;
    // A hundred at the start, two a second, one for ten successes, and those that succeeded.
    expect(retried).toBeLessThan((100 + 2 * 200 + succeeded / 10) / 0.9 + 50);
  });

  test('has recovered ends, though only retries are left', () => {
    let calls = 0;
    const fails = (): boolean => {
      calls += 1;
      return calls <= 420;
    };
    const { done, seconds, reasons } = play({ rows: 300, fails });
    expect(done).toBe(300);
    // Each success gives its retry back, so that waiting rows follow one another at two a second or faster.
    expect(seconds).toBeLessThan(420 / 50 + 300 / 2);
    expect([...reasons].some((reason) => reason.startsWith('true many calls fail'))).toBe(true);
  });
});

test('what waits is said in a line that fits', () => {
  const quota = new RetryQuota();
  for (let retry = 0; retry < 100; retry += 1) expect(quota.take('one', 1_000)).toBe(0);
  expect(quota.wait(1_000)).toBeUndefined();
  expect([quota.take('one', 1_000), quota.take('one', 1_000), quota.take('other', 1_000)]).toEqual([
    500, 1_000, 0,
  ]);
  expect(quota.wait(1_000)).toEqual({
    reason: 'many calls fail: 2 rows must wait for a retry',
    testMs: 500,
    isAll: false,
  });
  expect(quota.wait(5_000)).toBeUndefined();
});
