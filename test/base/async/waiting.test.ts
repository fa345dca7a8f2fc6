import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import {
  deferred,
  onAbort,
  unlessAborted,
  untilAborted,
  withTimeout,
} from '../../../src/base/async/waiting.ts';

test('waits for a promise at most for the given time', async () => {
  expect(await withTimeout(Promise.resolve('in time'), 60_000)).toBe('in time');
  expect(await withTimeout(deferred().promise, 1)).toBeUndefined();
  await expect(withTimeout(Promise.reject(new Error('failed')), 60_000)).rejects.toThrow('failed');
  expect(await withTimeout(Promise.resolve('late'))).toBe('late');
});

test('a promise is waited for until a signal aborts, which then has no listener left', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve('in time'), signal)).toBe('in time');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const abort = new AbortController();
  const waiting = unlessAborted(deferred().promise, abort.signal);
  abort.abort();
  expect(await waiting).toBeUndefined();
  expect(await unlessAborted(deferred().promise, abort.signal)).toBeUndefined();
  expect(await untilAborted(abort.signal)).toBeUndefined();
});

test('a listener is called once for an abort, even an earlier one, and never after it was removed', () => {
  const heard: string[] = [];
  const abort = new AbortController();
  onAbort(abort.signal, () => heard.push('kept'));
  onAbort(abort.signal, () => heard.push('taken away'))();
  abort.abort();
  onAbort(abort.signal, () => heard.push('late'));
  expect(heard).toEqual(['kept', 'late']);
});
