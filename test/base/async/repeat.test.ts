import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repeat } from '../../../src/base/async/repeat.ts';
import { deferred } from '../../../src/base/async/waiting.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A task that runs until it is told to end. */
function slowTask() {
  const ends: (() => void)[] = [];
  const task = vi.fn(() => {
    const { promise, resolve } = deferred();
    ends.push(resolve);
    return promise;
  });
  return { task, end: () => ends.shift()?.() };
}

test('a task is repeated after each period, whatever it throws', async () => {
  const errors: string[] = [];
  const task = vi.fn(() => Promise.reject(new Error('away')));
  repeat(task, { everyMs: 100, onError: ({ message }) => errors.push(message) });
  expect(task).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(250);
  expect(errors).toEqual(['away', 'away']);
});

test('a running task is not started again when it is due', async () => {
  const { task, end } = slowTask();
  repeat(task, { everyMs: 100 });
  await vi.advanceTimersByTimeAsync(350);
  expect(task).toHaveBeenCalledTimes(1);
  end();
  await vi.advanceTimersByTimeAsync(40);
  expect(task).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(60);
  expect(task).toHaveBeenCalledTimes(2);
});

test.each([
  ['that catches up', { everyMs: 100, catchUp: true }, 0],
  ['that is wanted now', { everyMs: 1_000_000 }, 3],
])('a task %s is started again as soon as it ends', async (_what, options, wanted) => {
  const { task, end } = slowTask();
  const repeated = repeat(task, options);
  for (let times = 0; times < wanted; times++) repeated.now();
  await vi.advanceTimersByTimeAsync(350);
  expect(task).toHaveBeenCalledTimes(1);
  end();
  await vi.advanceTimersByTimeAsync(0);
  expect(task).toHaveBeenCalledTimes(2);
});

test('stopping waits for the task under way, and starts nothing more', async () => {
  const { task, end } = slowTask();
  const repeated = repeat(task, { everyMs: 100 });
  repeated.now();
  repeated.now();
  const stopped = vi.fn();
  void repeated.stop().then(stopped);
  await vi.advanceTimersByTimeAsync(500);
  expect(stopped).not.toHaveBeenCalled();
  end();
  await vi.advanceTimersByTimeAsync(500);
  expect(stopped).toHaveBeenCalledOnce();
  expect(task).toHaveBeenCalledTimes(1);
});
