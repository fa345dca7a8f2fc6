import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify } from '../../../src/engine/api/classify.ts';
import { createTokenMask } from '../../../src/engine/api/token/token-mask.ts';

type Detail = readonly [type: string, fields: object];

const spellings = {
  'of a gateway': (details: readonly Detail[]) =>
    details.map(([type, fields]) => ({ '@type': `type.googleapis.com/google.rpc.${type}`, ...fields })),
  'of Connect': (details: readonly Detail[]) =>
    details.map(([type, debug]) => ({ type: `google.rpc.${type}`, value: 'CgIIAQ', debug })),
};

function messageOf(body: object): string {
  const mask = createTokenMask('my-secret');
  return classify({ status: 400, headers: {}, body: JSON.stringify(body) }, { now: 0, mask }).message;
}

describe.each(Object.entries(spellings))('the details %s', (_spelling, spelled) => {
  const told = (message: string, ...details: readonly Detail[]) =>
    messageOf({ code: 3, message, details: spelled(details) });

  const title = { field: 'title', description: 'too long' };
  const fieldViolations = [title, { field: 'file_size' }];
  const locked = { type: 'STATE', subject: 'evaluations/7', description: 'locked' };
  const daily = { subject: 'user:1', description: 'daily limit' };
  const reason = { reason: 'EVALUATION_NOT_DELETED', domain: 'd', metadata: { x: 'y' } };
  const said = 'The title is TOO LONG';

  test.each<[what: string, message: string, Detail, told: string]>([
    ['fields', 'bad', ['BadRequest', { fieldViolations }], 'bad (title: too long; file_size)'],
    [
      'conditions',
      'no',
      ['PreconditionFailure', { violations: [locked] }],
      'no (STATE evaluations/7: locked)',
    ],
    ['quotas', 'no', ['QuotaFailure', { violations: [daily] }], 'no (user:1: daily limit)'],
    ['the request', 'no', ['RequestInfo', { requestId: 'r-1' }], 'no (request: r-1)'],
    ['words for people', 'E12', ['LocalizedMessage', { locale: 'en', message: 'Long.' }], 'E12 (Long.)'],
    ['the reason, first', 'bad state', ['ErrorInfo', reason], 'EVALUATION_NOT_DELETED: bad state'],
    ['nothing that is said already', said, ['LocalizedMessage', { message: 'too long' }], said],
    ['nothing of types named like members of objects', 'no', ['constructor', { message: 'm' }], 'no'],
  ])('add %s', (_title, message, detail, expected) => {
    expect(told(message, detail)).toBe(expected);
  });

  test('are told once, on one clean line, without the token', () => {
    const again: Detail = ['LocalizedMessage', { message: 'a\u001b[31m\nb my-secret' }];
    const request: Detail = ['RequestInfo', { requestId: 'r-1' }];
    expect(told('refused', again, again, request)).toBe('refused (a b [token]; request: r-1)');
  });

  test('speak alone where there is no message, and are cut', () => {
    const long = { field: 'title', description: 'x'.repeat(400) };
    const alone = told('', ['BadRequest', { fieldViolations: [long] }]);
    expect(alone).toMatch(/^title: x+…$/);
    expect(alone).toHaveLength(300);
  });

  test('never keep an answer from being read', () => {
    const anyType = fc.constantFrom('BadRequest', 'ErrorInfo', 'RequestInfo');
    fc.assert(
      fc.property(fc.jsonValue(), anyType, (value, type) => {
        const odd = { fieldViolations: value, reason: value, requestId: value };
        expect(typeof told('m', [type, odd])).toBe('string');
        expect(typeof messageOf({ code: 3, details: value, error: { details: [value] } })).toBe('string');
      }),
    );
  });
});

test('the details of a Google error are read, too', () => {
  const details = spellings['of a gateway']([['RequestInfo', { request_id: 'r-1' }]]);
  const error = { code: 400, message: 'm', status: 'INVALID_ARGUMENT', details };
  expect(messageOf({ error })).toBe('m (request: r-1)');
});
