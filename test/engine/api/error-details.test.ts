import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify } from '../../../src/engine/api/classify.ts';
import { createTokenMask } from '../../../src/engine/api/server-text.ts';

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

  test.each<[string, string, Detail, string]>([
    [
      'fields that are wrong',
      'invalid',
      [
        'BadRequest',
        { fieldViolations: [{ field: 'title', description: 'too long' }, { field: 'file_size' }] },
      ],
      'invalid (title: too long; file_size)',
    ],
    [
      'fields in snake_case',
      'invalid',
      ['BadRequest', { field_violations: [{ field: 'title', description: 'too long' }] }],
      'invalid (title: too long)',
    ],
    [
      'conditions that are not met',
      'refused',
      [
        'PreconditionFailure',
        { violations: [{ type: 'STATE', subject: 'evaluations/7', description: 'locked' }] },
      ],
      'refused (STATE evaluations/7: locked)',
    ],
    [
      'quotas',
      'refused',
      ['QuotaFailure', { violations: [{ subject: 'user:1', description: 'daily limit' }] }],
      'refused (user:1: daily limit)',
    ],
    ['the request', 'refused', ['RequestInfo', { requestId: 'r-1' }], 'refused (request: r-1)'],
    [
      'words for people',
      'E12',
      ['LocalizedMessage', { locale: 'en', message: 'Too long.' }],
      'E12 (Too long.)',
    ],
    [
      'the reason, first',
      'bad state',
      ['ErrorInfo', { reason: 'EVALUATION_NOT_DELETED', domain: 'd', metadata: { x: 'y' } }],
      'EVALUATION_NOT_DELETED: bad state',
    ],
    ['no reason that is a code', 'bad state', ['ErrorInfo', { reason: 'INVALID_ARGUMENT' }], 'bad state'],
    [
      'nothing that is said already',
      'The title is TOO LONG',
      ['LocalizedMessage', { message: 'too long' }],
      'The title is TOO LONG',
    ],
    ['nothing of types without words', 'refused', ['DebugInfo', { detail: 'stack' }], 'refused'],
    [
      'nothing of types named like members of objects',
      'refused',
      ['constructor', { message: 'm' }],
      'refused',
    ],
  ])('add %s', (_title, message, detail, expected) => {
    expect(told(message, detail)).toBe(expected);
  });

  test('are told once, on one clean line, without the token', () => {
    const again: Detail = ['LocalizedMessage', { message: 'a\u001b[31m\nb my-secret' }];
    expect(told('refused', again, again, ['RequestInfo', { requestId: 'r-1' }])).toBe(
      'refused (a b [token]; request: r-1)',
    );
  });

  test('speak alone where there is no message, and are cut', () => {
    const details: Detail[] = [
      ['BadRequest', { fieldViolations: [{ field: 'title', description: 'x'.repeat(400) }] }],
    ];
    expect(told('', ...details)).toMatch(/^title: x+…$/);
    expect(told('', ...details)).toHaveLength(300);
  });

  test('never keep an answer from being read', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom('BadRequest', 'ErrorInfo', 'RequestInfo'),
        (value, type) => {
          const odd = { fieldViolations: value, reason: value, requestId: value };
          expect(typeof told('m', [type, odd])).toBe('string');
          expect(typeof messageOf({ code: 3, details: value, error: { details: [value] } })).toBe('string');
        },
      ),
    );
  });
});

test('the details of a Google error are read, too', () => {
  const details = spellings['of a gateway']([['RequestInfo', { request_id: 'r-1' }]]);
  expect(messageOf({ error: { code: 400, message: 'm', status: 'INVALID_ARGUMENT', details } })).toBe(
    'm (request: r-1)',
  );
});
