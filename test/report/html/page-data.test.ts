import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ByteWriter,
  decodeNumbers,
  decodeTexts,
  NumberEncoder,
  TextEncoderByRow,
  type Texts,
} from '../../../src/report/html/page-data.ts';

const numbers = fc.array(fc.option(fc.nat(2 ** 51), { nil: undefined }));
const texts = fc.array(
  fc.oneof(
    fc.string({ unit: 'binary' }),
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

function written(values: readonly (number | undefined)[]): Uint8Array {
  const encoder = new NumberEncoder();
  for (const value of values) encoder.add(value);
  return encoder.bytes.take();
}

function readBack(values: readonly string[]): Texts {
  const encoder = new TextEncoderByRow();
  for (const value of values) encoder.add(value);
  const parts = [encoder.codes.take(), encoder.integers.bytes.take(), encoder.text.take()] as const;
  return decodeTexts(parts, values.length);
}

test('numbers come back, and so does that there is none', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      expect([...decodeNumbers(written(values), values.length)]).toEqual(
        values.map((value) => value ?? Number.NaN),
      );
    }),
  );
});

test('numbers that grow by little need little', () => {
  expect(
    written(Array.from({ length: 100 }, (_, index) => 1_700_000_000_000 + 50 * index)).length,
  ).toBeLessThan(110);
});

describe('texts', () => {
  test('come back, whatever they are', () => {
    fc.assert(
      fc.property(texts, (values) => {
        const back = readBack(values);
        // What UTF-8 can't hold is replaced.
        expect(values.map((_, row) => back.at(row))).toEqual(
          values.map((value) => value.replace(/\p{Cs}/gu, '\ufffd')),
        );
      }),
    );
  });

  test('are found where they are, and nowhere between two of them', () => {
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

test('bytes are taken once', () => {
  const bytes = new ByteWriter();
  bytes.text('x'.repeat(5_000));
  expect(bytes.take()).toHaveLength(5_000);
  bytes.number(300);
  expect([...bytes.take()]).toEqual([172, 2]);
  expect(bytes.length).toBe(0);
});
