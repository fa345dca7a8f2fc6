import { describe, expect, test } from 'vitest';
import { mayPassAgain, rpcCode } from '../../../src/api/classify/verdict.ts';

/** `google/rpc/code.proto`. */
const names = [
  ...['CANCELLED', 'UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];

describe('rpcCode', () => {
  test.each(names.map((name, index) => [index + 1, name] as const))(
    'knows %i as %s in every spelling',
    (number, name) => {
      const lower = name.toLowerCase();
      const pascal = lower.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
      const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1);
      for (const spelling of [number, String(number), name, lower, pascal, camel, lower.replace('_', '-')]) {
        expect(rpcCode(spelling)).toBe(name);
      }
    },
  );

  test('knows both spellings of CANCELLED', () => {
    expect(rpcCode('canceled')).toBe('CANCELLED');
  });

  test.each([
    [0],
    [17],
    [-1],
    [1.5],
    [404],
    ['404'],
    ['0'],
    ['OK'],
    [''],
    ['EVALUATION_NOT_DELETED'],
    ['x'.repeat(1000)],
    [5n],
    [null],
    [undefined],
    [{}],
    [['NOT_FOUND']],
  ])('does not take %o for a code', (value) => {
    expect(rpcCode(value)).toBeUndefined();
  });
});

describe('mayPassAgain', () => {
  test.each([
    ...[
      'UNAVAILABLE',
      'INTERNAL',
      'ABORTED',
      'REQUEST_TIMEOUT',
      'HTTP_520',
      'CONNECTION_LOST',
      'TOTAL_TIMEOUT',
    ],
    ...['UNAUTHENTICATED', 'PERMISSION_DENIED', 'HTTP_REDIRECT', 'ANSWER_NOT_JSON', 'HALTED', 'CANCELLED'],
  ])('%s may', (code) => expect(mayPassAgain(code)).toBe(true));

  test.each([
    ...[
      'NOT_FOUND',
      'INVALID_ARGUMENT',
      'FAILED_PRECONDITION',
      'CONFLICT',
      'UNIMPLEMENTED',
      'HTTP_418',
      'HTTP_600',
    ],
    ...['ANSWER_INCOMPLETE', 'ANSWER_ID_MISMATCH', 'ANSWER_STILL_DELETED'],
  ])('%s will not', (code) => expect(mayPassAgain(code)).toBe(false));
});
