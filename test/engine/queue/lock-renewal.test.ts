import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lockMs } from '../../../src/engine/queue/bullmq.ts';
import { renewLocks } from '../../../src/engine/queue/lock-renewal.ts';

/** A worker whose locks expire as those of Redis do: by a clock of its own. */
class FakeWorker extends EventEmitter {
  readonly until = new Map<string, number>();
  readonly taken = new Set<string>();
  failure: Error | undefined;

  async extendJobLocks(ids: string[], _tokens: string[], durationMs: number): Promise<string[]> {
    if (this.failure !== undefined) throw this.failure;
    const lost = ids.filter((id) => this.taken.has(id) || (this.until.get(id) ?? 0) < performance.now());
    for (const id of ids) if (!lost.includes(id)) this.until.set(id, performance.now() + durationMs);
    return lost;
  }
}

function begin() {
  const worker = new FakeWorker();
  const errors: Error[] = [];
  const locks = renewLocks((error) => errors.push(error));
  locks.start(worker);
  return {
    worker,
    locks,
    errors,
    /** Claims a job. */
    claim(id: string, onLost?: () => void) {
      worker.until.set(id, performance.now() + lockMs);
      return locks.hold({ id }, `token of ${id}`, onLost);
    },
    isHeld: (id: string) => (worker.until.get(id) ?? 0) > performance.now(),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([0, -3_600_000, -30_000, 3_600_000])(
  'a worker keeps the locks of its jobs for as long as they take, even when the clock is set by %d ms',
  async (byMs) => {
    const { claim, isHeld, errors } = begin();
    const lock = claim('a');
    await vi.advanceTimersByTimeAsync(7_000);
    vi.setSystemTime(Date.now() + byMs);
    for (let passed = 0; passed < 120_000; passed += 1_000) {
      await vi.advanceTimersByTimeAsync(1_000);
      expect(isHeld('a')).toBe(true);
    }
    lock.release();
    expect(errors).toEqual([]);
  },
);

test('a claim with a late answer counts from when it was sent, unless the clock was set back meanwhile', async () => {
  const { locks } = begin();
  const sentAt = Date.now();
  await vi.advanceTimersByTimeAsync(lockMs - 1_000);
  const late = locks.hold({ id: 'a', processedOn: sentAt }, 'token of a');
  const ahead = locks.hold({ id: 'b', processedOn: Date.now() + 3_600_000 }, 'token of b');
  expect([late.isCertain(), ahead.isCertain()]).toEqual([true, true]);
  // No renewal succeeds.
  await vi.advanceTimersByTimeAsync(1_000);
  expect([late.isCertain(), ahead.isCertain()]).toEqual([false, true]);
});

test('renews at once when the clock is set, even locks claimed a moment ago', async () => {
  const { worker, claim } = begin();
  await vi.advanceTimersByTimeAsync(6_000);
  claim('a');
  await vi.advanceTimersByTimeAsync(100);
  vi.setSystemTime(Date.now() + 3_600_000);
  await vi.advanceTimersByTimeAsync(100);
  expect(worker.until.get('a')).toBe(performance.now() + lockMs);
});

test('finished jobs are not renewed any more, and quick jobs never are', async () => {
  const { worker, claim, isHeld } = begin();
  const renew = vi.spyOn(worker, 'extendJobLocks');
  const lock = claim('a');
  await vi.advanceTimersByTimeAsync(4_000);
  lock.release();
  await vi.advanceTimersByTimeAsync(lockMs);
  expect([isHeld('a'), renew.mock.calls]).toEqual([false, []]);
});

test('a lock that another worker has is an error, as is a datastore that is away; renewal continues', async () => {
  const { worker, claim, isHeld, errors } = begin();
  claim('a');
  claim('b');
  worker.taken.add('a');
  worker.failure = new Error('away');
  await vi.advanceTimersByTimeAsync(10_000);
  worker.failure = undefined;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(new Set(errors.map(({ message }) => message))).toEqual(
    new Set(['away', 'could not renew lock for job a']),
  );
  expect(isHeld('b')).toBe(true);
});

test('a lock is held for its duration after the last successful renewal', async () => {
  const { worker, claim } = begin();
  const lock = claim('a');
  await vi.advanceTimersByTimeAsync(12_000);
  worker.failure = new Error('away');
  await vi.advanceTimersByTimeAsync(17_999);
  expect(lock.isCertain()).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(lock.isCertain()).toBe(false);
});

test('a job that a worker has claimed twice stays locked when one of the claims is released', async () => {
  const { claim } = begin();
  const [former, latter] = [claim('a'), claim('a')];
  former.release();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([former.isCertain(), latter.isCertain()]).toEqual([false, true]);
});

test('a closed worker renews nothing', async () => {
  const { worker, claim } = begin();
  const renew = vi.spyOn(worker, 'extendJobLocks');
  claim('a');
  worker.emit('closed');
  await vi.advanceTimersByTimeAsync(60_000);
  expect([renew.mock.calls, vi.getTimerCount()]).toEqual([[], 0]);
});
