import { CsvError } from 'csv-parse';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { delimiters } from '../../../../src/base/text/delimiter.ts';
import { type CsvRecord, findCsvMistake, readCsvRecords } from '../../../../src/engine/manifest/csv/rows.ts';
import { checkUtf8 } from '../../../../src/engine/manifest/text/source.ts';
import { flat, inChunks } from '../reading.ts';

function recordsOf(text: string, chunkSize: number): Promise<readonly CsvRecord[]> {
  return flat(readCsvRecords(checkUtf8(inChunks(Buffer.from(text), chunkSize)), ','));
}

test('a record knows the line on which it begins', async () => {
  const cell = fc.constantFrom('a', '', '"a\nb"', '"\r\n"', '"\r\r\n\n"', '"a"');
  const lineEnds = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 4 });
  const record = fc.tuple(fc.array(cell, { minLength: 2, maxLength: 3 }), lineEnds);
  await fc.assert(
    fc.asyncProperty(fc.array(record), fc.integer({ min: 1, max: 9 }), async (records, chunkSize) => {
      const expected: number[] = [];
      let text = '';
      for (const [cells, ends] of records) {
        if (cells.some((cell) => /[ab]/.test(cell))) expected.push(text.split(/\r\n|\n|\r/).length);
        text += cells.join(',') + ends.join('');
      }
      expect((await recordsOf(text, chunkSize)).map(({ line }) => line)).toEqual(expected);
    }),
  );
});

test('neither blank lines, with delimiters or without, nor ragged records cause an error, wherever chunks end', async () => {
  const blank = `${'\n'.repeat(1000)}${'\r\n'.repeat(1000)}${'\r'.repeat(1000)}`;
  const text = `\na,b\n${blank}1,2\n"",\n""\n,,,\n${'1\n1,2,3\n'.repeat(1000)}3,4`;
  const captureStackTrace = vi.spyOn(Error, 'captureStackTrace');
  for (const chunkSize of [7, 64 * 1024]) {
    const records = await recordsOf(text, chunkSize);
    expect(captureStackTrace).not.toHaveBeenCalled();
    expect(records).toHaveLength(2003);
    expect(records.slice(0, 3)).toEqual([
      { cells: ['a', 'b'], line: 2 },
      { cells: ['1', '2'], line: 3003 },
      { cells: ['1'], line: 3007 },
    ]);
    expect(records.at(-1)).toEqual({ cells: ['3', '4'], line: 5007 });
  }
  captureStackTrace.mockRestore();
});

/** No NUL: after a closing quote, csv-parse takes it for the end of the text. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('"', '"', '""', ...delimiters, '\n', '\r\n', '\r') },
  { weight: 2, arbitrary: fc.constantFrom('"a"', '"",', '"\n"', '"a""b",', '\n"', '",') },
  { weight: 2, arbitrary: fc.constantFrom('a', 'bcd', 'é', '🙂', ' ', '\ufeff', '\u2028', "'", '\\') },
);

test('a mistake is found in all text that csv-parse refuses, wherever chunks end, and in no other', async () => {
  const seen = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join('')),
      fc.constantFrom(...delimiters),
      fc.integer({ min: 1, max: 9 }),
      async (text, delimiter, chunkSize) => {
        const chunks = () => checkUtf8(inChunks(Buffer.from(text), chunkSize));
        const mistake = await findCsvMistake(chunks(), delimiter);
        const reading = flat(readCsvRecords(chunks(), delimiter));
        if (mistake === undefined) await reading;
        else await expect(reading).rejects.toBeInstanceOf(CsvError);
        seen[mistake === undefined ? 'accepted' : 'refused']++;
      },
    ),
    { numRuns: 300 },
  );
  expect(seen.accepted).toBeGreaterThan(30);
  expect(seen.refused).toBeGreaterThan(30);
});
