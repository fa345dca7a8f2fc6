import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCsvRecords } from '../../../src/engine/manifest/csv/rows.ts';
import { readWhole } from '../../../src/engine/manifest/json/document.ts';
import { ColumnList, readJsonLines, readJsonRows } from '../../../src/engine/manifest/json/rows.ts';
import { readWrapper } from '../../../src/engine/manifest/json/wrapper.ts';
import { checkUtf8 } from '../../../src/engine/manifest/text/source.ts';
import { anyCharacter } from '../../any-character.ts';
import { flat, inChunks } from './reading.ts';

const csv = Buffer.from(
  '"a ""quoted""",b\r\n1,"two\r\nlines"\n\r\n,\r2,"é🙂"\r\n"",""""\n3,"\r\r\n\n"\n"1,2",x\r\n',
);
const array = Buffer.from(
  '\r\n [ {"a":"\\"]}\\\\", "b":[{},[1]]} ,\r\n12345,"x]\\"",\r{"é":{"🙂":[true]}}\n,null, [ ] \r\n] \n',
);
const lines = Buffer.from('{"a":1}\r\n\r\n\n{"b":"é🙂"}\r \r\n{"c":\n\r{"d":null}');
const wrapper = Buffer.from('{"defaults" :\n{"a":"]}\\""},"rows":[{"x":"{"},\r\n[2]],"operation":"é" }\n');

const place = { offset: 0 };

async function documentRows(chunks: AsyncIterable<Buffer>, outer: 'array' | 'object'): Promise<unknown> {
  return flat(readJsonRows(await readWhole(chunks), { outer, ...place }, new ColumnList('a')));
}

const readers: Readonly<
  Record<
    string,
    readonly [
      bytes: Buffer,
      expected: number | string,
      read: (chunks: AsyncIterable<Buffer>) => Promise<unknown>,
    ]
  >
> = {
  'delimited text': [csv, 6, (chunks) => flat(readCsvRecords(chunks, ','))],
  'a JSON array': [array, 6, (chunks) => documentRows(chunks, 'array')],
  'rows in an object': [wrapper, 2, (chunks) => documentRows(chunks, 'object')],
  'the facts of an object': [wrapper, 'é', async (chunks) => readWrapper(await readWhole(chunks), place)],
  'JSON Lines': [lines, 4, (chunks) => flat(readJsonLines(chunks, new ColumnList('a')))],
};

test.each(Object.keys(readers))('%s: it does not matter where chunks end', async (name) => {
  const [bytes, expected, read] = readers[name] as (typeof readers)[string];
  const whole = await read(inChunks(bytes, bytes.length));
  expect(whole).toHaveProperty(Array.isArray(whole) ? 'length' : 'operation', expected);
  for (let size = 1; size < bytes.length; size++) {
    expect(await read(checkUtf8(inChunks(bytes, size)))).toEqual(whole);
  }
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
        const read = flat(
          (async function* () {
            for await (const chunk of checkUtf8(inChunks(bytes, size))) yield [chunk];
          })(),
        );
        await expect(read).rejects.toMatchObject({ at: start.length });
      },
    ),
  );
});
