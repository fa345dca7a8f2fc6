import type { Dispatcher } from 'undici';
import { expect, test, vi } from 'vitest';
import { exchange, type SentRequest, Stop } from '../../../../src/engine/api/network/exchange.ts';

const request = { origin: 'http://localhost', method: 'POST', path: '/', headers: [], body: null } as const;
const controller = { abort: vi.fn() } as unknown as Dispatcher.DispatchController;
const error = new Error('lost');

type Play = (handler: Dispatcher.DispatchHandler, signal: AbortController) => void;

function played(play: Play) {
  const seen: (string | SentRequest | undefined)[] = [];
  const observer = { started: () => seen.push('started'), ended: (sent?: SentRequest) => seen.push(sent) };
  const abort = new AbortController();
  const stop = new Stop(60_000, abort.signal);
  const dispatcher = {
    dispatch(_: unknown, handler: Dispatcher.DispatchHandler) {
      expect(seen).toEqual(['started']);
      play(handler, abort);
      return true;
    },
  } as unknown as Dispatcher;
  const made = exchange(dispatcher, { ...request, headers: [] }, { stop, maxAnswerBytes: 1_000, observer });
  return { seen, made: made.finally(() => stop.release()) };
}

const begins: Play = (handler) => handler.onRequestStart?.(controller, undefined);
const answers =
  (status: number): Play =>
  (handler, signal) => {
    begins(handler, signal);
    handler.onResponseStart?.(controller, status, {});
  };

test.each<[what: string, play: Play, told: object | undefined]>([
  [
    'an answer',
    (handler, signal) => {
      answers(429)(handler, signal);
      handler.onResponseEnd?.(controller, {});
      handler.onResponseError?.(controller, error);
    },
    { status: 429 },
  ],
  [
    'no answer',
    (handler, signal) => {
      begins(handler, signal);
      handler.onResponseError?.(controller, error);
    },
    { status: undefined },
  ],
  [
    'half an answer',
    (handler, signal) => {
      answers(200)(handler, signal);
      handler.onResponseError?.(controller, error);
    },
    { status: 200 },
  ],
  [
    'a stop in the middle',
    (handler, signal) => {
      begins(handler, signal);
      signal.abort();
      handler.onResponseError?.(controller, error);
    },
    { status: undefined },
  ],
  ['no connection', (handler) => handler.onResponseError?.(controller, error), undefined],
  ['a stop before it was sent', (_, signal) => signal.abort(), undefined],
])('%s is reported once, when it is over', async (_, play, told) => {
  const { seen, made } = played(play);
  await made;
  expect(seen).toHaveLength(2);
  if (told === undefined) expect(seen[1]).toBeUndefined();
  else expect(seen[1]).toEqual({ ...told, durationMs: expect.any(Number) });
});

test('a request that HTTP cannot carry ends, too', async () => {
  const { seen, made } = played(() => {
    throw new TypeError('header');
  });
  await expect(made).rejects.toThrow('header');
  expect(seen).toEqual(['started', undefined]);
});
