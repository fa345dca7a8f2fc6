import { EventEmitter } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { deferred } from '../../../../src/base/async/waiting.ts';
import { Stop } from '../../../../src/engine/api/network/stop.ts';

const minute = 60_000;

function stopOf(milliseconds: number, signal?: AbortSignal): Stop {
  const stop = new Stop(milliseconds, signal);
  onTestFinished(() => stop.release());
  return stop;
}

/** A call that a signal can stop, and the listener to its stop. */
function abortable(milliseconds = minute) {
  const controller = new AbortController();
  const stop = stopOf(milliseconds, controller.signal);
  const listener = vi.fn();
  stop.step = { stop: listener };
  return { stop, listener, abort: () => controller.abort() };
}

function fakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test('a signal stops all calls that have it, however other calls ended', () => {
  const controller = new AbortController();
  const stops = [1, 2, 3].map(() => stopOf(minute, controller.signal));
  const listeners = stops.map((stop) => {
    const listener = vi.fn();
    stop.step = { stop: listener };
    return listener;
  });
  stops[1]?.release();
  controller.abort();
  expect(stops.map(({ reason }) => reason)).toEqual(['aborted', undefined, 'aborted']);
  expect(listeners.map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
});

test('any number of calls have one listener to their signal', () => {
  const { signal } = new AbortController();
  for (const stop of Array.from({ length: 60 }, () => stopOf(minute, signal))) stop.release();
  expect(EventEmitter.getEventListeners(signal, 'abort')).toHaveLength(1);
});

test('a call that ends as it is stopped does not prevent stopping the others', () => {
  const controller = new AbortController();
  const first = stopOf(minute, controller.signal);
  const second = stopOf(minute, controller.signal);
  first.step = { stop: () => first.release() };
  controller.abort();
  expect(second.reason).toBe('aborted');
});

test('the first reason counts', () => {
  fakeTimers();
  const { stop, listener, abort } = abortable(10);
  vi.advanceTimersByTime(10);
  abort();
  expect(stop.reason).toBe('timed-out');
  expect(listener).toHaveBeenCalledTimes(1);
});

test('a pause ends with the stop, and at once after an earlier stop', async () => {
  const { stop, abort } = abortable();
  const pause = stop.pause(minute);
  abort();
  await pause;
  await stop.pause(minute);
  expect(stop.reason).toBe('aborted');
});

test('what is no part of a call takes none of its time', async () => {
  fakeTimers();
  const stop = stopOf(10);
  const { promise, resolve } = deferred<string>();
  const waiting = stop.waitWithoutTimeout(promise);
  vi.advanceTimersByTime(minute);
  resolve('done');
  expect(await waiting).toBe('done');
  vi.advanceTimersByTime(9);
  expect(stop.reason).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(stop.reason).toBe('timed-out');
});

test('each part of an answer has the whole time', () => {
  fakeTimers();
  const stop = stopOf(10);
  vi.advanceTimersByTime(9);
  stop.restart();
  vi.advanceTimersByTime(9);
  expect(stop.reason).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(stop.reason).toBe('timed-out');
});
