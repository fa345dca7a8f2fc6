import { describe, expect, test } from 'vitest';
import { rpcCode } from '../../../src/engine/api/classify.ts';

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
  ])('does not read %o as a code', (value) => {
    expect(rpcCode(value)).toBeUndefined();
  });
});
