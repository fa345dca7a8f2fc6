import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { int64Text, maxInt64, requireInt64 } from '../../../src/engine/api/int64.ts';

describe('int64Text', () => {
  test.each<[unknown, string | undefined]>([
    ['1', '1'],
    [1, '1'],
    [1n, '1'],
    [' 12\t', '12'],
    ['007', '7'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    [9223372036854775807n, '9223372036854775807'],
    ['00009223372036854775807', '9223372036854775807'],
    ['9223372036854775808', undefined],
    [9223372036854775808n, undefined],
    ['10000000000000000000', undefined],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    [Number.MAX_SAFE_INTEGER + 1, undefined],
    ['0', undefined],
    [0, undefined],
    ['-1', undefined],
    [-1n, undefined],
    ['+1', undefined],
    ['1.0', undefined],
    [1.5, undefined],
    ['1e3', undefined],
    ['1,234', undefined],
    ['', undefined],
    ['0x10', undefined],
    ['١٢', undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [undefined, undefined],
    [true, undefined],
    [{}, undefined],
    [['1'], undefined],
  ])('from 1: takes %o as %s', (value, expected) => {
    expect(int64Text(value, 1)).toBe(expected);
  });

  test.each([['0'], [0], [0n], ['000']])('from 0: takes %o', (value) => {
    expect(int64Text(value, 0)).toBe('0');
  });

  test('keeps every integer of its range, as text, bigint and safe number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: maxInt64 }), (value) => {
        expect(int64Text(value, 1)).toBe(String(value));
        expect(int64Text(String(value), 1)).toBe(String(value));
        const number = Number(value);
        if (Number.isSafeInteger(number)) expect(int64Text(number, 1)).toBe(String(value));
      }),
    );
  });
});

test('requireInt64 names the argument', () => {
  expect(() => requireInt64('evaluationId', 1.5, 1)).toThrow(
    new RangeError('evaluationId must be an exact whole number from 1 to 9223372036854775807'),
  );
});
