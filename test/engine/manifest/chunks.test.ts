import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCsvRecords } from '../../../src/engine/manifest/csv/rows.ts';
import { ColumnList, readJsonLines } from '../../../src/engine/manifest/json/rows.ts';
import { checkUtf8 } from '../../../src/engine/manifest/text/source.ts';
import { anyCharacter } from '../../any-character.ts';
import { flat, inChunks } from './reading.ts';

const csv = '"a ""quoted""",b\r\n1,"two\r\nlines"\n\r\n,\r2,"é🙂"\r\n"",""""\n3,"\r\r\n\n"\n"1,2",x\r\n';
const lines = '{"a":1}\r\n\r\n\n{"b":"é🙂"}\r \r\n{"c":\n\r{"d":null}';

type Reader = (chunks: AsyncIterable<Buffer>) => AsyncIterable<readonly unknown[]>;

// Other JSON: json/rows.test.ts.
test.each<[what: string, text: string, rows: number, read: Reader]>([
  ['delimited text', csv, 6, (chunks) => readCsvRecords(chunks, ',')],
  ['JSON Lines', lines, 4, (chunks) => readJsonLines(chunks, new ColumnList('a'))],
])('it does not matter where chunks of %s end', async (_what, text, rows, read) => {
  const bytes = Buffer.from(text);
  const whole = await flat(read(inChunks(bytes, bytes.length)));
  expect(whole).toHaveLength(rows);
  for (let size = 1; size < bytes.length; size++)
    expect(await flat(read(checkUtf8(inChunks(bytes, size))))).toEqual(whole);
});

test('checked UTF-8 is cut between characters only, and is complete', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: anyCharacter, minLength: 1 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, size) => {
        const parts: string[] = [];
        for await (const chunk of checkUtf8(inChunks(Buffer.from(text), size))) parts.push(chunk.toString());
        expect(parts.join('')).toBe(text);
      },
    ),
  );
});

test('the first byte that is not UTF-8 is found wherever chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('ff', 'c0af', 'eda080', 'e282', 'f0808080', '80', 'f4908080', 'c3'),
      fc.string(),
      fc.integer({ min: 1, max: 9 }),
      async (before, invalid, after, size) => {
        const start = Buffer.from(before);
        const bytes = Buffer.concat([start, Buffer.from(invalid, 'hex'), Buffer.from(after)]);
        const read = async () => {
          for await (const _ of checkUtf8(inChunks(bytes, size)));
        };
        await expect(read()).rejects.toMatchObject({ at: start.length });
      },
    ),
  );
});
