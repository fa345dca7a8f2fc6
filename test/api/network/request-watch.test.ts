import { expect, test } from 'vitest';

import { type Ending, type SentRequest, watched } from '../../../src/api/network/exchange.ts';

const answer = { status: 429, headers: {}, body: '' };
const error = new Error('lost');

test.each<[what: string, ending: Ending, told: object | undefined]>([
  ['an answer', { kind: 'answer', answer }, { status: 429 }],
  ['no answer', { kind: 'lost', error, progress: 'sent' }, { status: undefined }],
  ['half an answer', { kind: 'lost', error, progress: 'answering', status: 200 }, { status: 200 }],
  ['a stop in the middle', { kind: 'stopped', progress: 'sent' }, { status: undefined }],
  ['no connection', { kind: 'lost', error, progress: 'unsent' }, undefined],
  ['a stop before it was sent', { kind: 'stopped', progress: 'unsent' }, undefined],
])('%s is told once, when it is over', async (_, ending, told) => {
  const seen: (string | SentRequest | undefined)[] = [];
  const watch = { began: () => seen.push('began'), ended: (sent?: SentRequest) => seen.push(sent) };
  const request = async (): Promise<Ending> => {
    expect(seen).toEqual(['began']);
    return ending;
  };
  expect(await watched(watch, request)).toBe(ending);
  expect(seen).toHaveLength(2);
  if (told === undefined) expect(seen[1]).toBeUndefined();
  else expect(seen[1]).toEqual({ ...told, durationMs: expect.any(Number) });
});

test('a request that HTTP can not carry is over, too', async () => {
  const seen: string[] = [];
  const watch = { began: () => seen.push('began'), ended: () => seen.push('ended') };
  await expect(watched(watch, () => Promise.reject(new TypeError('header')))).rejects.toThrow('header');
  expect(seen).toEqual(['began', 'ended']);
});
