import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { int64Text, maxInt64, requireInt64 } from '../../../src/engine/api/int64.ts';

describe('int64Text', () => {
  test.each<[unknown, string]>([
    [' 12\t', '12'],
    ['007', '7'],
    ['00009223372036854775807', '9223372036854775807'],
  ])('from 1: takes %o as %s', (value, expected) => {
    expect(int64Text(value, 1)).toBe(expected);
  });

  test('from 1: takes nothing else', () => {
    const tooLarge = ['9223372036854775808', 9223372036854775808n, '10000000000000000000', 2 ** 53];
    const texts = ['0', '-1', '+1', '1.0', '1e3', '1,234', '', '0x10', '١٢'];
    const others = [0, -1n, 1.5, Number.NaN, null, undefined, true, {}, ['1']];
    for (const value of [...tooLarge, ...texts, ...others])
      expect(int64Text(value, 1), String(value)).toBeUndefined();
  });

  test.each(['0', 0, 0n, '000'])('from 0: takes %o', (value) => {
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
