import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFile } from '../../../src/base/disk/files.ts';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { type TableOptions, tableContent, tableFormats } from '../../../src/engine/report/table-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const columns = ['evaluation_id', 'title', 'note'];

type Rows = readonly (readonly string[])[];

async function written(rows: Rows, options: Partial<TableOptions> & Pick<TableOptions, 'format'>) {
  const chunks = async function* () {
    if (rows.length > 0) yield rows;
  };
  const table = { columns, rows: chunks() };
  const path = join(await temporaryFolder(), `rows.${options.format}`);
  await createFile(path, await tableContent(table, { clearToken: '<clear>', forExcel: true, ...options }));
  return path;
}

/** The cells of a file, as every command reads them without an option. */
async function readBack(path: string): Promise<readonly object[]> {
  const manifest = await openManifest(path, { name: 'rows' });
  const rows: object[] = [];
  for await (const chunk of manifest.rows())
    for (const { cells, problem } of chunk) rows.push(problem ?? { ...cells });
  return rows;
}

/** A row without its empty cells, which are left out. */
const present = (row: readonly string[]): object =>
  Object.fromEntries(columns.map((column, index) => [column, row[index]]).filter(([, text]) => text !== ''));

test.each(tableFormats)('a table in %s reads back as the same rows', async (format) => {
  const rows = [
    ['9007199254740993', '=HYPERLINK("x")', ''],
    ['9223372036854775807', "'-1+2", 'a;b\tc|d, "e"'],
    ['3', format === 'xlsx' ? 'x' : '<clear>', '_x0041_'],
    ['4', '', 'é🙂'],
  ];
  const back = await readBack(await written(rows, { format }));
  const nothing = (row: object) =>
    Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
  expect(back.map(nothing)).toEqual(rows.map(present));
});

test.each(tableFormats)('any text in %s reads back unchanged', async (format) => {
  const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((each) => !/[\r\n]/.test(each));
  const row = fc.tuple(fc.nat().map(String), text, text);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 5 }), async (rows) => {
      const back = await readBack(await written(rows, { format }));
      const nothing = (each: object) =>
        Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null));
      expect(back.map(nothing)).toEqual(rows.map(present));
    }),
    { numRuns: 30 },
  );
});

test('identifiers are text in a workbook and in JSON, so that no program rounds them', async () => {
  const { readFile } = await import('node:fs/promises');
  const { readXlsx } = await import('hucre/xlsx');
  const rows = [['9007199254740993', '', '1.50']];
  const { sheets } = await readXlsx(await readFile(await written(rows, { format: 'xlsx' })));
  expect(sheets[0]?.rows[1]).toEqual(['9007199254740993', '', '1.50']);
  expect(await readFile(await written(rows, { format: 'jsonl' }), 'utf8')).toBe(
    '{"evaluation_id":"9007199254740993","title":null,"note":"1.50"}\n',
  );
});

test('a table without rows has its columns', async () => {
  const { readFile } = await import('node:fs/promises');
  expect(await readFile(await written([], { format: 'csv', delimiter: ';' }), 'utf8')).toBe(
    '\ufeffevaluation_id;title;note;_guarded_commas\n',
  );
  expect(await readFile(await written([], { format: 'csv', forExcel: false }), 'utf8')).toBe(
    'evaluation_id,title,note,_guarded\n',
  );
});

test.each([
  {
    cell: 'x'.repeat(40_000),
    message: 'There is a title with more than the 32,767 characters of an Excel cell',
  },
  { cell: '<clear>', message: 'There is a title "<clear>", which means empty in a workbook' },
])('what a workbook can not hold is refused, instead of changed: $message', async ({ cell, message }) => {
  await expect(written([['1', cell, '']], { format: 'xlsx' })).rejects.toMatchObject({
    kind: 'usage',
    code: 'WORKBOOK_UNFIT',
    message: `${message}: choose a name that ends with .csv, .tsv or .jsonl.`,
  });
});
