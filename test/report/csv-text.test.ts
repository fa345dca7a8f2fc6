import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvText } from '../../src/report/csv-text.ts';

const anyCell = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      '"',
      '""',
      ',',
      ';',
      '\n',
      '\r',
      '\r\n',
      ' ',
      '\t',
      '\0',
      '\ufeff',
      '\u2028',
      "'",
      '=',
      'a',
    ),
  }),
);

/** Records of two cells or more: of one empty cell, CSV is an empty line. */
const anyRecords = fc.array(fc.array(anyCell, { minLength: 2, maxLength: 5 }), { maxLength: 5 });

test.each<[string, readonly string[]]>([
  ['a,b', ['a', 'b']],
  [',', ['', '']],
  ['"a,b",c', ['a,b', 'c']],
  ['"say ""a""",""""', ['say "a"', '"']],
  ['"a\nb","a\rb"', ['a\nb', 'a\rb']],
  [' a ,\ta', [' a ', '\ta']],
  ["'=1+1,-12.5", ["'=1+1", '-12.5']],
  ['a;b,\0', ['a;b', '\0']],
])('%j is the line of %j', (line, record) => {
  expect(csvText([record])).toBe(`${line}\n`);
});

test('no records are no text', () => {
  expect(csvText([])).toBe('');
});

test('any text comes back from its cells as other programs read them', () => {
  fc.assert(
    fc.property(anyRecords, (records) => {
      expect(parse(csvText(records), { relaxColumnCount: true, recordDelimiter: '\n' })).toEqual(records);
    }),
    { numRuns: 1000 },
  );
});

test('the text is that of csv-stringify', () => {
  fc.assert(
    fc.property(anyRecords, (records) => {
      expect(csvText(records)).toBe(stringify(records));
    }),
    { numRuns: 1000 },
  );
});
