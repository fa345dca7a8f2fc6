import { LosslessNumber } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { rowSchemaOf } from '../../../src/engine/operation/row-fields.ts';
import { problems } from '../../jobs/problems.ts';

const schema = rowSchemaOf({ n: { type: 'integer', min: 1, required: true } }, 'n');

const range = 'a whole number from 1 to 9223372036854775807';
const scientific =
  'is in scientific notation, so digits may be lost; format the column as text in the spreadsheet, enter the numbers again and export again';
const separators = 'has separators between its digits; format the column as text and write digits only';
const decimals =
  'has decimals, so digits may be lost; format the column as text, write whole numbers and export again';
const mark = "has a spreadsheet's text mark; write only the digits";
const errorValue = 'is a spreadsheet error, or the column was too narrow; fix it and export again';

test.each<[unknown, string]>([
  ['1.23E+15', scientific],
  [new LosslessNumber('1e21'), scientific],
  ['1,234', separators],
  ['1\u00a0234\u202f567', separators],
  ['12.0', decimals],
  ['="12"', mark],
  ['#######', errorValue],
  ['Total: 300', 'seems to be a line below the table, such as a total; delete it'],
  ['0', `out of range; must be ${range}`],
  ['9223372036854775808', `out of range; must be ${range}`],
  ['+5', `must be ${range}, in digits only`],
  [{ toString: 1 }, `must be ${range}, in digits only`],
  [2 ** 60, `may have lost digits as a JavaScript number; give ${range} as text or bigint`],
  ['', 'missing; every row needs the column n'],
  [null, 'missing; every row needs the column n'],
  [undefined, 'missing; every row needs the column n'],
])('an integer field says what happened to %o', (value, problem) => {
  expect(problems(schema, { n: value })).toEqual([`n: ${problem}`]);
});

describe('a text or identifier', () => {
  const texts = rowSchemaOf(
    { n: { type: 'integer', required: true }, who: { type: 'identifier' }, title: { type: 'text' } },
    'n',
  );

  test.each([
    ...['#N/A', '#REF!', '#DIV/0!', '#NAME?', '#VALUE!', '#NULL!', '#SPILL!', ' #N/A ', '########', '###'],
    ...['#NV', '#BEZUG!', '#¡REF!', '#¿NOMBRE?', '#VALEUR!', '#N/D', '#ERROR!', '#GETTING_DATA', 'Err:502'],
  ])('is not the error value %s of a spreadsheet', (value) => {
    expect(problems(texts, { n: 1, who: value, title: value })).toEqual([
      `who: ${errorValue}`,
      `title: ${errorValue}`,
    ]);
  });

  test.each<[string, string]>([
    ['4.91512E+11', scientific],
    ['4,91512e+11', scientific],
    ["'491512", mark],
  ])('is not the user %s, which a spreadsheet made of a number', (value, problem) => {
    expect(problems(texts, { n: 1, who: value })).toEqual([`who: ${problem}`]);
    expect(problems(schema, { n: value })).toEqual([`n: ${problem}`]);
    expect(texts.parse({ n: 1, title: value })).toMatchObject({ title: value });
  });

  test.each(['12e5', '3.5', '1,234', 'e+5', "'x"])('may be the user %s', (who) => {
    expect(texts.parse({ n: 1, who })).toMatchObject({ who });
  });

  test('is no error value however its accents are encoded', () => {
    expect(problems(texts, { n: 1, title: '#ÜBERLAUF!'.normalize('NFD') })).toEqual([`title: ${errorValue}`]);
  });

  test.each(['#', '##', '#1', '#hello', '#WOW!', 'see #N/A', '#N/Always', 'C#', 'N/A'])(
    'may be %s',
    (value) => {
      expect(texts.parse({ n: 1, title: value })).toMatchObject({ title: value });
    },
  );
});
