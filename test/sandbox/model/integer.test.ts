import { expect, test } from 'vitest';
import { readIdentifier, readInteger } from '../../../src/sandbox/model/integer.ts';

test.each([
  [0, 0],
  [-5, -5],
  ['17', 17],
  ['-17', -17],
  [9007199254740993n, 9007199254740993n],
  ['9007199254740993', 9007199254740993n],
  ['0012', 12],
])('%o is the integer %o', (value, integer) => {
  expect(readInteger(value)).toBe(integer);
});

test.each([
  1.5,
  Number.NaN,
  2 ** 53,
  '',
  '1.0',
  '1e3',
  ' 1',
  '0x10',
  '12345678901234567890',
  null,
  true,
  [],
  {},
])('%o is no integer', (value) => {
  expect(readInteger(value)).toBeUndefined();
});

test.each([
  [1, 1],
  [9223372036854775807n, 9223372036854775807n],
  ['9223372036854775807', 9223372036854775807n],
  [0, undefined],
  [-1, undefined],
  [9223372036854775808n, undefined],
  ['9223372036854775808', undefined],
])('%o as an identifier is %o', (value, identifier) => {
  expect(readIdentifier(value)).toBe(identifier);
});
