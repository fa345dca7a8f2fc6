import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { type CsvRecord, readCsvRecords } from '../../../src/manifest/csv/records.ts';
import { checkUtf8 } from '../../../src/manifest/text/utf8.ts';
import { inChunks } from '../reading.ts';

async function recordsOf(text: string, chunkSize = 64 * 1024): Promise<readonly CsvRecord[]> {
  const records: CsvRecord[] = [];
  const chunks = checkUtf8(inChunks(Buffer.from(text), chunkSize));
  for await (const batch of readCsvRecords(chunks, ',', 1_000_000)) records.push(...batch);
  return records;
}

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
      expect((await recordsOf(text, chunkSize)).map(({ line }) => line)).toEqual(expected);
    }),
  );
});

test('neither blank lines nor ragged records cost an error, wherever chunks end', async () => {
  const blank = `${'\n'.repeat(1000)}${'\r\n'.repeat(1000)}${'\r'.repeat(1000)}`;
  const text = `\na,b\n${blank}1,2\n"",\n""\n\n${'1\n1,2,3\n'.repeat(1000)}3,4`;
  const captureStackTrace = vi.spyOn(Error, 'captureStackTrace');
  for (const chunkSize of [7, 64 * 1024]) {
    const records = await recordsOf(text, chunkSize);
    expect(captureStackTrace).not.toHaveBeenCalled();
    expect(records).toHaveLength(2004);
    expect(records.slice(0, 4)).toEqual([
      { cells: ['a', 'b'], line: 2 },
      { cells: ['1', '2'], line: 3003 },
      { cells: ['', ''], line: 3004 },
      { cells: ['1'], line: 3007 },
    ]);
    expect(records.at(-1)).toEqual({ cells: ['3', '4'], line: 5007 });
  }
  captureStackTrace.mockRestore();
});

test('blank lines count for no record, however large the limit of one', async () => {
  const records: CsvRecord[] = [];
  const chunks = inChunks(Buffer.from(`a,b\n${'\n'.repeat(1000)}1,2\n`), 10);
  for await (const batch of readCsvRecords(chunks, ',', 30)) records.push(...batch);
  expect(records).toEqual([
    { cells: ['a', 'b'], line: 1 },
    { cells: ['1', '2'], line: 1002 },
  ]);
});
