import fc from 'fast-check';
import { expect, test } from 'vitest';
import { columnLetters, readCell } from '../../../../src/engine/manifest/workbook/cell.ts';

test.each<[value: number, text: string, isExact: boolean]>([
  [-0, '0', true],
  [999_999_999_999_999, '999999999999999', true],
  [1e15, '1000000000000000', false],
  [9.00719925474099e15, '9007199254740990', false],
])('the number %s is %s, exact: %s', (value, text, isExact) => {
  const cell = readCell(value, undefined);
  expect([cell.text, cell.problem === undefined]).toEqual([text, isExact]);
});

test('whole numbers are exact or have a problem', () => {
  fc.assert(
    fc.property(fc.bigInt(-(10n ** 19n), 10n ** 19n), (whole) => {
      const { text, problem } = readCell(Number(whole), undefined);
      return problem !== undefined || text === String(whole);
    }),
  );
});

test.each([
  ['2026-03-12T00:00:00Z', '2026-03-12'],
  ['2026-03-12T10:30:00.499Z', '2026-03-12T10:30:00'],
  ['1899-12-31T10:30:00Z', '10:30:00'],
])('the date %s is %s', (date, text) => {
  expect(readCell(new Date(date), undefined)).toEqual({ text });
});

test('blank values are empty, and booleans are written as Excel shows them', () => {
  const texts = [null, undefined, '', true, false].map((value) => readCell(value, undefined).text);
  expect(texts).toEqual(['', '', '', 'TRUE', 'FALSE']);
});

test('columns have letters', () => {
  expect([0, 25, 26, 701, 702, 16_383].map(columnLetters)).toEqual(['A', 'Z', 'AA', 'ZZ', 'AAA', 'XFD']);
});
