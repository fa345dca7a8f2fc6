import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ColumnWriter,
  decodeNumbers,
  decodeTexts,
  numberChanges,
} from '../../../src/report/html/page-data.ts';
import { anyCharacter } from '../../any-character.ts';

const numbers = fc.array(fc.option(fc.nat(2 ** 51), { nil: undefined }));
const texts = fc.array(
  fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom(
      '',
      '0',
      '00',
      '-1',
      '17',
      '9223372036854775807',
      '123456789012345',
      'İ',
      'ß',
      '\n',
      '\u2028',
    ),
    fc.nat().map(String),
  ),
);

function written(values: readonly (string | number | null)[]): never[] {
  const writer = new ColumnWriter();
  // As for compression: in parts.
  const parts = values.map((value) => {
    writer.push(value);
    return writer.take();
  });
  return JSON.parse(parts.join('') + writer.end());
}

test('numbers come back, and so do missing ones', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const back = decodeNumbers(written(values.map(numberChanges())), values.length);
      expect([...back.values]).toEqual(values.map((value) => value ?? Number.NaN));
      expect(back.largest).toBe(Math.max(-1, ...values.map((value) => value ?? -1)));
    }),
  );
});

test('numbers with small differences take little space', () => {
  const values = Array.from({ length: 100 }, (_, index) => 1_700_000_000_000 + 50 * index);
  expect(written(values.map(numberChanges()))).toEqual([1_700_000_000_000, 50, [98]]);
});

describe('texts', () => {
  const readBack = (values: readonly string[]) => decodeTexts(written(values), values.length);

  test('come back unchanged', () => {
    fc.assert(
      fc.property(texts, (values) => {
        const back = readBack(values);
        expect(values.map((_, row) => back.at(row))).toEqual(values);
        expect(back.longest).toBe(Math.max(0, ...values.map(({ length }) => length)));
      }),
    );
  });

  test('match only where the pattern is found', () => {
    const few = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1') }));
    const query = fc.string({ unit: fc.constantFrom('a', 'b', '1'), minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(few, query, (values, wanted) => {
        const found = readBack(values).matches(new RegExp(wanted, 'giu'));
        expect([...found]).toEqual(values.map((value) => (value.toLowerCase().includes(wanted) ? 1 : 0)));
      }),
    );
  });
});
