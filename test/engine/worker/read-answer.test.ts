import { expect, test } from 'vitest';
import type { AnswerCheck } from '../../../src/engine/operation/operation.ts';
import { readAnswer } from '../../../src/engine/worker/read-answer.ts';

const sent = { ok: true, status: 200, body: {}, requests: 1, durationMs: 5, requestId: 'r' } as const;

const readAs = (check: AnswerCheck) => readAnswer({ subject: '1' }, { check: () => check }, sent);

test.each([
  ['UNAVAILABLE', undefined, { class: 'retry', unclear: true }],
  ['UNAVAILABLE', false, { class: 'retry', unclear: false }],
  ['RESOURCE_EXHAUSTED', undefined, { class: 'slow-down', unclear: false }],
  ['NOT_FOUND', undefined, { class: 'permanent', unclear: false }],
  ['NOT_FOUND', true, { class: 'permanent', unclear: true }],
  ['UNAUTHENTICATED', undefined, { class: 'halt', unclear: false }],
] as const)(
  'a refusal %s in a 2xx answer (unclear: %s) counts as the API means it',
  (code, unclear, failure) => {
    const misfit = { ok: false, code, message: 'why', ...(unclear !== undefined && { unclear }) } as const;
    expect(readAs(misfit)).toEqual({
      answer: {
        ok: false,
        requests: 1,
        durationMs: 5,
        requestId: 'r',
        failure: { code, message: 'why', status: 200, ...failure },
      },
    });
  },
);

test.each(['ANSWER_INCOMPLETE', 'CONNECTION_LOST', 'QUOTA_USED'])(
  'the code %s of an operation says nothing about the API',
  (code) => {
    const misfit = { ok: false, code, message: 'why' } as const;
    expect(readAs(misfit)).toEqual({ answer: sent, check: misfit });
  },
);
