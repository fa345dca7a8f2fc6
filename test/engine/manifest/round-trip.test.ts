import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBlank } from '../../../src/base/text/blank.ts';
import { csvText, delimiters } from '../../../src/base/text/delimiter.ts';
import { cellText, guardColumn, guardFor } from '../../../src/base/text/formula-guard.ts';
import { parseJson, stringifyJson } from '../../../src/base/text/json.ts';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { anyCharacter } from '../../any-character.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allRows } from './reading.ts';

const nasty = fc.constantFrom(
  ...['"', '""', ',', ';', '\t', '|', '\n', '\r\n', '\r', '\0', '\ufeff', "'", "'=", '=cmd()', ';=cmd()'],
  ...['\u200b', '-1', '<clear>', '\u202eabc', 'مرحبا', '👩‍👩‍👧', ' ', '[', '{', '#', '\\', '\\"'],
  'x'.repeat(3000),
);
const cell = fc.oneof(
  nasty,
  fc.string({ unit: anyCharacter }),
  fc.array(nasty, { maxLength: 4 }).map((parts) => parts.join('')),
);

const table = fc
  .integer({ min: 2, max: 5 })
  .chain((width) =>
    fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
  )
  .map((rows) => rows.map((cells) => cells.map((text) => (text === '<clear>' ? '' : text))))
  // A row of blank cells is a blank line.
  .filter((rows) => rows.every((cells) => !cells.every(isBlank)));

test('any rows written by csv-stringify are read back exactly', async () => {
  const path = join(await temporaryFolder(), 'a.csv');
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.record({
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
        quoted: fc.boolean(),
        quoted_empty: fc.boolean(),
        bom: fc.boolean(),
        eof: fc.boolean(),
      }),
      async (rows, options) => {
        const names = Array.from({ length: rows[0]?.length ?? 0 }, (_, index) => `column ${index}`);
        await writeFile(path, stringify([names, ...rows], { ...options, quote_record_delimiter: true }));
        const manifest = await openManifest(path, { trustQuotes: true });
        expect(manifest.columns()).toEqual(names);
        const read = await allRows(manifest);
        expect(read.map(({ cells }) => names.map((name) => cells[name] ?? ''))).toEqual(rows);
        expect(read.map(({ row }) => row)).toEqual(rows.map((_, index) => index + 1));
        expect(read.every(({ problem }) => problem === undefined)).toBe(true);
        const lineEnds = rows.map((cells) => 1 + cells.join('\0').split(/\r\n|\n|\r/).length - 1);
        const lines = lineEnds.map(
          (_, index) => 2 + lineEnds.slice(0, index).reduce((sum, count) => sum + count, 0),
        );
        expect(read.map(({ line }) => line)).toEqual(lines);
      },
    ),
    { numRuns: 100 },
  );
});

test('any column names are read back exactly', async () => {
  const path = join(await temporaryFolder(), 'a.csv');
  // A file in which every other byte is zero is taken for UTF-16.
  const name = cell.filter((text) => /^[^_\d\s\p{Cf}'[{<][^\0]*$/u.test(text));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(name, { minLength: 2, maxLength: 6 }), async (names) => {
      await writeFile(path, stringify([names, names.map(() => 'x')], { quoted: true }));
      const manifest = await openManifest(path, { trustQuotes: true });
      expect(manifest.columns()).toEqual(names);
    }),
  );
});

const jsonRow = fc.dictionary(
  fc.string({ unit: anyCharacter }).filter((name) => !name.startsWith('_')),
  fc.oneof(
    fc.jsonValue({ stringUnit: anyCharacter }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n }),
    fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  ),
  { maxKeys: 6 },
);

const jsonFormats: Readonly<Record<string, (rows: readonly string[]) => string>> = {
  array: (rows) => `[${rows.join(',')}]`,
  'array on lines': (rows) => ` [\r\n  ${rows.join(' ,\n\t')}\r ]\n`,
  wrapper: (rows) => `{"defaults":{"a":"]}\\""},"rows":[${rows.join(',')}],"operation":"x"}`,
  lines: (rows) => rows.join('\n'),
  'lines with CR LF': (rows) => `${rows.join('\r\n')}\r\n`,
};

test.each(Object.keys(jsonFormats))('any JSON rows are read back exactly: %s', async (format) => {
  const path = join(await temporaryFolder(), format.startsWith('lines') ? 'a.jsonl' : 'a.json');
  await fc.assert(
    fc.asyncProperty(fc.array(jsonRow, { minLength: 1, maxLength: 6 }), async (rows) => {
      const texts = rows.map((row) => stringifyJson(row));
      await writeFile(path, jsonFormats[format]?.(texts) ?? '');
      const read = await allRows(await openManifest(path, { trustQuotes: true }));
      expect(read.map(({ problem }) => problem)).toEqual(rows.map(() => undefined));
      expect(read.map(({ cells }) => cells)).toEqual(
        texts.map((text) => ({ ...(parseJson(text) as object) })),
      );
    }),
  );
});

test('cells written by cellText into a guarded row are read back unchanged', async () => {
  const path = join(await temporaryFolder(), 'a.csv');
  const clearToken = fc.constantFrom('<clear>', '-', "'", '=', "'=x", "a;'=b", 'NULL');
  const value = fc.oneof(
    cell,
    fc.constantFrom(undefined, '', '<clear>', "'<clear>", '-', "'-", "'", 'NULL', "''NULL"),
    fc.constantFrom('=x', "'=x", 'a;=b', 'a,=b', "a,'=b"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 8 }),
      clearToken,
      fc.constantFrom(...delimiters),
      async (rows, token, delimiter) => {
        const guard = guardFor(delimiter);
        const records = rows.map((cells) => [...cells.map((each) => cellText(each, token, guard)), 'yes']);
        const header = ['=a', 'b,+c'].map((name) => guard(name, { clearToken: token }));
        await writeFile(path, csvText([[...header, guardColumn(delimiter)], ...records], delimiter));
        const manifest = await openManifest(path, { clearToken: token, trustQuotes: true });
        expect(manifest.columns()).toEqual(['=a', 'b,+c']);
        const read = await allRows(manifest);
        expect(read.map(({ cells }) => [cells['=a'], cells['b,+c']])).toEqual(rows);
      },
    ),
    { numRuns: 100 },
  );
});

/** Text of these characters as windows-1252. */
const windows1252 = (text: string) => Buffer.from(text.replaceAll('€', '\x80'), 'latin1');

test('any rows are read back below titles and from another encoding, with the lines of the file', async () => {
  const path = join(await temporaryFolder(), 'a.csv');
  const text = fc.string({ unit: fc.constantFrom(...'aéß€;," \n'), maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.tuple(text, text).filter((cells) => !cells.every(isBlank)),
        { minLength: 1, maxLength: 5 },
      ),
      fc.array(fc.constantFrom('Export', 'Größe: 1,5 €', '', '"', ';;'), { maxLength: 4 }),
      fc.boolean(),
      fc.constantFrom('windows-1252', 'utf-16le', 'utf-8'),
      async (rows, titles, hasSeparator, encoding) => {
        const preamble = [...(hasSeparator ? ['sep=;'] : []), ...titles].map((line) => `${line}\n`).join('');
        const content =
          preamble + stringify([['evaluation_id', 'ß'], ...rows], { delimiter: ';', quoted: true });
        const encode =
          encoding === 'windows-1252' ? windows1252 : (all: string) => Buffer.from(all, encoding as 'utf8');
        await writeFile(path, encode(content));
        const read = await allRows(
          await openManifest(path, { encoding, skipLines: titles.length, trustQuotes: true }),
        );
        expect(read.map(({ cells }) => [cells['evaluation_id'] ?? '', cells['ß'] ?? ''])).toEqual(rows);
        expect(read[0]?.line).toBe(titles.length + (hasSeparator ? 1 : 0) + 2);
      },
    ),
  );
});
