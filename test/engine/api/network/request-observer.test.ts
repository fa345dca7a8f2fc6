import type { Dispatcher } from 'undici';
import { expect, test, vi } from 'vitest';
import { exchange, type SentRequest } from '../../../../src/engine/api/network/exchange.ts';
import { Stop } from '../../../../src/engine/api/network/stop.ts';

const request = { origin: 'http://localhost', method: 'POST', path: '/', headers: [], body: null } as const;
const controller = { abort: vi.fn() } as unknown as Dispatcher.DispatchController;

type Event = (handler: Dispatcher.DispatchHandler, signal: AbortController) => void;

const begins: Event = (handler) => handler.onRequestStart?.(controller, undefined);
const answers: Event = (handler) => handler.onResponseStart?.(controller, 429, {});
const ends: Event = (handler) => handler.onResponseEnd?.(controller, {});
const breaks: Event = (handler) => handler.onResponseError?.(controller, new Error('lost'));
const stops: Event = (_, signal) => signal.abort();

function played(...events: readonly Event[]) {
  const seen: (string | SentRequest | undefined)[] = [];
  const observer = { started: () => seen.push('started'), ended: (sent?: SentRequest) => seen.push(sent) };
  const abort = new AbortController();
  const stop = new Stop(60_000, abort.signal);
  const dispatcher = {
    dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
      expect(seen).toEqual(['started']);
      for (const event of events) event(handler, abort);
      return true;
    },
  } as unknown as Dispatcher;
  const made = exchange(dispatcher, { ...request, headers: [] }, { stop, maxAnswerBytes: 1_000, observer });
  return { seen, made: made.finally(() => stop.release()) };
}

const durationMs = expect.any(Number);

test.each<[what: string, told: object | undefined, ...events: Event[]]>([
  ['an answer', { status: 429, durationMs }, begins, answers, ends, breaks],
  ['no answer', { status: undefined, durationMs }, begins, breaks],
  ['half an answer', { status: 429, durationMs }, begins, answers, breaks],
  ['a stop in the middle', { status: undefined, durationMs }, begins, stops, breaks],
  ['no connection', undefined, breaks],
])('%s is reported once, when it is over', async (_, told, ...events) => {
  const { seen, made } = played(...events);
  await made;
  expect(seen).toEqual(['started', told]);
});

test('a request that HTTP cannot carry ends, too', async () => {
  const { seen, made } = played(() => {
    throw new TypeError('header');
  });
  await expect(made).rejects.toThrow('header');
  expect(seen).toEqual(['started', undefined]);
});
