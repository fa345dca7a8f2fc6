import { readdir, readFile, stat } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { readXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { writeXlsxReport } from '../../../src/engine/report/xlsx-report.ts';
import { callableRow } from '../../helpers/planned-row.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { resultOf } from '../journal/arbitraries.ts';

/** Writes a report of rows with these notes, and reads it back with another library. */
async function written(...notes: readonly string[]) {
  const folder = await temporaryFolder();
  async function* lines() {
    yield notes.map((note, index) => ({
      row: callableRow(index + 1, ['9223372036854775807', note]),
      result: resultOf(index + 1),
    }));
  }
  const path = await writeXlsxReport({
    folder,
    readLines: async () => lines(),
    columns: [{ title: 'evaluation_id' }, { title: 'note' }],
    clear_token: '<clear>',
    operations: [{ columns: ['score'] }],
  });
  const { sheets } = await readXlsx(await readFile(path));
  return { folder, path, sheets };
}

/** The texts of the parts of a streamed archive without ZIP64. */
function unzipped(archive: Buffer): readonly string[] {
  const texts: string[] = [];
  const end = archive.lastIndexOf('PK\x05\x06');
  for (let at = archive.readUInt32LE(end + 16); at < end; ) {
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    texts.push(inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(at + 20))).toString());
    const [name = 0, extra = 0, comment = 0] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field));
    at += 46 + name + extra + comment;
  }
  return texts;
}

test('a workbook has the report as text, with a frozen header', async () => {
  const { folder, path, sheets } = await written('=1+1', '-12');
  const [report] = sheets;
  expect(report).toMatchObject({ name: 'report', freezePane: { rows: 1 } });
  expect(report?.rows[0]?.slice(0, 4)).toEqual(['evaluation_id', 'note', '_row', '_operation']);
  expect(report?.rows.slice(1).map((row) => row.slice(0, 3))).toEqual([
    ['9223372036854775807', '=1+1', '1'],
    ['9223372036854775807', '-12', '2'],
  ]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['report.xlsx']);
});

test("texts that XML can't hold are kept", async () => {
  const texts = [
    '<&>"\'',
    ' a\tb\nc ',
    'é🙂',
    'null\u0000bell\u0007\r',
    '\ufffe\uffff_\ufffe',
    '_x0041_',
    '<clear>',
  ];
  const { sheets, path } = await written(...texts);
  expect(sheets[0]?.rows.slice(1).map((row) => row[1])).toEqual([...texts.slice(0, -1), '<clear>']);
  // XML 1.0, section 2.2.
  const parts = unzipped(await readFile(path));
  for (const xml of parts) expect(xml).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
});

test('a text that is too long for Excel names the file with the full text', async () => {
  const { sheets } = await written('x'.repeat(40_000));
  const text = String(sheets[0]?.rows[1]?.[1]);
  expect(text).toHaveLength(32_767);
  expect(text).toMatch(/x… \(cut: Excel holds 32,767 characters; report\.csv has the full text\)$/);
});

test('more columns than Excel has are refused', async () => {
  const columns = Array.from({ length: 16_384 }, (_, index) => ({ title: `column ${index}` }));
  const input = { folder: await temporaryFolder(), columns, clear_token: '<clear>', operations: [] };
  async function* lines() {}
  const writing = writeXlsxReport({ ...input, readLines: async () => lines() });
  await expect(writing).rejects.toMatchObject({ code: 'XLSX_TOO_LARGE', kind: 'fatal' });
  expect(await readdir(input.folder)).toEqual([]);
});
