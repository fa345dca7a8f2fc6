import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { delimiters } from '../../../src/manifest/csv/delimiter.ts';
import { type CsvRecord, readCsvRecords } from '../../../src/manifest/csv/records.ts';
import { TextMistake } from '../../../src/manifest/text/mistake.ts';
import { checkUtf8 } from '../../../src/manifest/text/utf8.ts';
import { inChunks } from '../reading.ts';

const place = { delimiter: ',', offset: 0, limit: 1_000_000 } as const;

async function recordsOf(
  text: string,
  { delimiter = ',', chunkSize = 64 * 1024 }: { delimiter?: ',' | ';' | '\t' | '|'; chunkSize?: number } = {},
): Promise<readonly CsvRecord[]> {
  const records: CsvRecord[] = [];
  const chunks = checkUtf8(inChunks(Buffer.from(text), chunkSize));
  for await (const batch of readCsvRecords(chunks, { ...place, delimiter })) records.push(...batch);
  return records;
}

/** The cells of all records but blank ones, as csv-parse reads them, or undefined when it refuses the text. */
function cellsByCsvParse(text: string, delimiter: string): readonly (readonly string[])[] | undefined {
  try {
    const records: string[][] = parse(text, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
    });
    return records.filter((cells) => cells.length > 1 || cells[0] !== '');
  } catch {
    return undefined;
  }
}

/** No NUL: csv-parse takes it for the end of the text behind a closing quote. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('"', '"', '""', ...delimiters, '\n', '\r\n', '\r') },
  { weight: 2, arbitrary: fc.constantFrom('"a"', '"",', '"\n"', '"a""b",', '\n"', '",') },
  { weight: 2, arbitrary: fc.constantFrom('a', 'bcd', 'é', '🙂', ' ', '\ufeff', '\u2028', "'", '\\') },
);

test('agrees with csv-parse on any text, wherever chunks end', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join('')),
      fc.constantFrom(...delimiters),
      fc.integer({ min: 1, max: 9 }),
      async (text, delimiter, chunkSize) => {
        const expected = cellsByCsvParse(text, delimiter);
        const reading = recordsOf(text, { delimiter, chunkSize });
        if (expected === undefined) await expect(reading).rejects.toBeInstanceOf(TextMistake);
        else expect((await reading).map(({ cells }) => cells)).toEqual(expected);
        if (expected !== undefined) accepted++;
      },
    ),
    { numRuns: 4000 },
  );
  expect(accepted).toBeGreaterThan(400);
});

test('a record says the line on which it begins', async () => {
  const cell = fc.constantFrom('a', '', '"a\nb"', '"\r\n"', '"\r\r\n\n"', '"a"');
  const lineEnds = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: 1, maxLength: 4 });
  const record = fc.tuple(fc.array(cell, { minLength: 2, maxLength: 3 }), lineEnds);
  await fc.assert(
    fc.asyncProperty(fc.array(record), fc.integer({ min: 1, max: 9 }), async (records, chunkSize) => {
      const expected: number[] = [];
      let text = '';
      for (const [cells, ends] of records) {
        expected.push(text.split(/\r\n|\n|\r/).length);
        text += cells.join(',') + ends.join('');
      }
      expect((await recordsOf(text, { chunkSize })).map(({ line }) => line)).toEqual(expected);
    }),
  );
});

test('neither blank lines nor ragged records cost an error', async () => {
  const captureStackTrace = vi.spyOn(Error, 'captureStackTrace');
  const records = await recordsOf(
    `a,b\n${'\n'.repeat(1000)}${'\r\n'.repeat(1000)}${'1\n1,2,3\n'.repeat(1000)}`,
  );
  expect(records).toHaveLength(2001);
  expect(records.at(-1)).toEqual({ cells: ['1', '2', '3'], line: 4001 });
  expect(captureStackTrace).not.toHaveBeenCalled();
  captureStackTrace.mockRestore();
});
