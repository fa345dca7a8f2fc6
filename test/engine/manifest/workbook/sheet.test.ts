import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { formatProblem } from '../../../../src/engine/rows/problem.ts';
import type { InvalidRow } from '../../../../src/engine/rows/row.ts';
import { dialects, sheetOf } from '../../../fixtures/workbooks/dialects.ts';
import { zipped } from '../../../fixtures/workbooks/zip.ts';
import { testOperations } from '../operations.ts';
import { allRows, cellsOf, failure, openText } from '../reading.ts';

const fixture = (name: string) => readFile(join('test/fixtures/workbooks', name));

/** The XML of a cell: `n:1` is a number, `e:#N/A` an error, `f:A1` a formula, and anything else text. */
function cell(address: string, text: string): string {
  const [, type, value = ''] = /^([nebfs]):(.*)$/.exec(text) ?? [];
  if (type === undefined) return `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`;
  if (type === 'f') return `<c r="${address}"><f>${value}</f></c>`;
  return `<c r="${address}" t="${type}"><v>${value}</v></c>`;
}

/** The XML of a row: its first cells, and one in the last column that a sheet can have. */
function row(line: number, cells: readonly string[], attributes = '', last = ''): string {
  const written = cells.map((text, index) => (text === '' ? '' : cell(`${'ABC'[index]}${line}`, text)));
  return `<row r="${line}" ${attributes}>${written.join('')}${last && cell(`XFD${line}`, last)}</row>`;
}

const sheet = (rows: readonly (readonly string[])[], name?: string) =>
  zipped(sheetOf(rows.map((cells, index) => row(index + 1, cells)).join(''), name));

/** What is wrong with the rows of a sheet. */
async function problemsOf(rows: readonly (readonly string[])[], operation?: string) {
  const manifest = await openText('a.xlsx', sheet(rows));
  const prepared = (await allRows(manifest)).map(
    createRowPreparer({ manifest, operation, operations: testOperations }),
  );
  return prepared.map((each) =>
    each.kind === 'invalid'
      ? (each as InvalidRow).problems.map((problem) => formatProblem('a.xlsx', each, problem))
      : [each.operation.name],
  );
}

test.each(Object.keys(dialects))('%s is read exactly, with the rows that the program shows', async (name) => {
  const manifest = await openText(`${name}.gz`, await fixture(name));
  expect(manifest).toMatchObject({
    format: 'xlsx',
    sheet: { name: 'Löschungen', others: [expect.any(String)] },
  });
  const first = { 'Evaluation ID': '9007199254740993', user_id: 'jörg', Datum: '2026-03-12' };
  const second = { 'Evaluation ID': '131', user_id: 'qa-lead', Datum: '2026-03-12T10:30:00' };
  const expected = [
    { row: 1, line: 2, cells: { ...first, Gruß: 'jörg!', Erledigt: 'TRUE' } },
    { row: 2, line: 4, cells: { ...second, Gruß: '262' } },
  ];
  expect(await allRows(manifest)).toEqual(expected);
  expect(await allRows(manifest)).toEqual(expected);
  const letters = ['Evaluation ID', 'Gruß', 'x'].map((column) => manifest.lettersOf?.(column));
  expect(letters).toEqual(['A', 'D', undefined]);
});

test('the clear token, blanks and guarded cells of a report mean the same as in CSV', async () => {
  const rows = [
    ['room_id', 'title', '_guarded'],
    ['n:1', '&lt;clear&gt;'],
    ['n:2', "'=x ", 'yes'],
  ];
  const titles = async (trim: boolean) =>
    (await cellsOf('a.xlsx', sheet(rows), { trim })).map((cells) => cells['title']);
  expect(await titles(false)).toEqual(['', '=x ']);
  expect(await titles(true)).toEqual(['', '=x']);
});

const formula =
  'is a formula without a stored result; open the file in Excel, save it, and use the saved file';

test('cells with errors make a row invalid and are named by address, but only cells of fields', async () => {
  const rows = [
    ['note', 'Room ID', 'title'],
    ['e:#N/A', 'n:7', 'ok'],
    ['', 'n:9.00719925474099E+15', 'b'],
    ['', 'n:8', 'e:#REF!'],
    ['', 'f:A1*2', 'd'],
    ['x', '', 'e'],
  ];
  expect(await problemsOf(rows)).toEqual([
    ['rename-room'],
    [
      'a.xlsx:B3: row 2, Room ID: is a number with more than 15 digits, which Excel does not keep; format the column as text and enter the numbers again (9007199254740990)',
    ],
    ['a.xlsx:C4: row 3, title: is a spreadsheet error; fix it there or clear the cell (#REF!)'],
    [`a.xlsx:B5: row 4, Room ID: ${formula}`],
    [expect.stringMatching(/^a\.xlsx:B6: row 5, Room ID: /)],
  ]);
});

test.each([
  ['f:A1', formula],
  [
    'e:#N/A',
    'is unknown; name one of close-ticket, rename-room, or pass --operations with its module (#N/A)',
  ],
])(
  'a row whose operation is the cell %s is invalid, whatever rows do that name none',
  async (operation, problem) => {
    const rows = [
      ['operation', 'room_id', 'title'],
      [operation, 'n:7', 'a'],
      ['', 'n:8', 'b'],
    ];
    expect(await problemsOf(rows, 'rename-room')).toEqual([
      [`a.xlsx:A2: row 1, operation: ${problem}`],
      ['rename-room'],
    ]);
  },
);

test('a title above the header is reported, and skipped when the user asks for that', async () => {
  const content = sheet([['Export'], [], ['Nr', 'Name'], ['n:1', 'x']]);
  expect((await failure('a.xlsx', content)).message).toBe(
    'a.xlsx: the column names seem to be in row 3, below a title; pass --skip-lines 2',
  );
  const manifest = await openText('a.xlsx', content, { skipLines: 2 });
  expect(await allRows(manifest)).toEqual([{ row: 1, line: 4, cells: { Nr: '1', Name: 'x' } }]);
});

test('a sheet is chosen by its name or its number', async () => {
  const content = sheet([['a'], ['x']], '2');
  for (const wanted of ['2', '1'])
    expect((await openText('a.xlsx', content, { sheet: wanted })).sheet?.name).toBe('2');
  expect((await failure('a.xlsx', content, { sheet: 'Tabelle' })).message).toBe(
    'a.xlsx: there is no sheet "Tabelle"; the workbook has "2", "Leer": pass one of these names, or a number from 1',
  );
  // As tolerant as names of columns.
  for (const wanted of ['Leer', 'leer', ' LEER '])
    expect((await failure('a.xlsx', content, { sheet: wanted })).message).toContain(
      'the sheet "Leer" has no rows',
    );
  expect((await failure('a.xlsx', content, { sheet: 'Leer' })).message).toBe(
    'a.xlsx: the sheet "Leer" has no rows; choose another sheet with --sheet',
  );
});

test('an overview before the rows is reported with the other sheets', async () => {
  const manifest = await openText('a.xlsx', sheet([['Total'], ['x']], 'Overview'));
  expect(() => createRowPreparer({ manifest, operations: testOperations })).toThrow(
    '. This is the sheet "Overview"; choose another one with --sheet: "Leer"',
  );
});

/** A sheet whose rows 2, 4 and 5 and column B are hidden. */
function filtered(): Buffer {
  const rows = [
    row(1, ['ticket_id', 'user_id', 'note']),
    row(2, ['4', 'u1', 'x'], 'hidden="1"'),
    row(3, ['6', 'u1', 'x']),
    row(4, ['8', 'u1', 'x'], 'hidden="true"'),
    row(5, ['10', 'u1', 'x'], 'ht="0" customHeight="1"'),
  ];
  const parts = sheetOf(rows.join(''));
  const cols = '<cols><col min="2" max="3" width="9" hidden="1"/></cols><sheetData>';
  const name = 'xl/worksheets/sheet1.xml';
  return zipped({ ...parts, [name]: (parts[name] ?? '').replace('<sheetData>', cols) });
}

test('hidden rows are refused until --hidden says what they mean', async () => {
  const error = await failure('a.xlsx', filtered());
  expect([error.code, error.message]).toEqual([
    'MANIFEST_HIDDEN_ROWS',
    'a.xlsx: 3 of the 4 rows of this sheet are hidden, as by a filter (first: row 2): pass --hidden skip to leave them out, or ' +
      '--hidden include to read them, too',
  ]);
  const read = async (hidden: 'include' | 'skip') =>
    (await allRows(await openText('a.xlsx', filtered(), { hidden }))).map(
      ({ row: number, line, cells }) => `${number} ${line} ${cells['ticket_id']}`,
    );
  expect(await read('skip')).toEqual(['1 3 6']);
  expect(await read('include')).toEqual(['1 2 4', '2 3 6', '3 4 8', '4 5 10']);
});

test('the plan names hidden rows, hidden columns that have a meaning, and an encoding without effect', async () => {
  const manifest = await openText('a.xlsx', filtered(), { hidden: 'skip', encoding: 'windows-1252' });
  const prepare = createRowPreparer({ manifest, operations: testOperations });
  const { warnings } = await scanManifest(manifest, prepare);
  expect(warnings.map(({ message }) => message)).toEqual([
    '3 hidden rows are left out (--hidden skip)',
    'the column "user_id" is hidden in the workbook, but it is read',
    '--encoding has no effect: a workbook has its own',
  ]);
});

test('a hidden sheet is read only when it is named', async () => {
  const parts = sheetOf(row(1, ['a']));
  const workbook = (parts['xl/workbook.xml'] ?? '').replace('sheetId="1"', 'sheetId="1" state="hidden"');
  const content = zipped({ ...parts, 'xl/workbook.xml': workbook });
  expect((await failure('a.xlsx', content)).message).toBe(
    'a.xlsx: no visible sheet of this workbook has rows; choose a hidden one with --sheet: "Tabelle1"',
  );
  expect((await openText('a.xlsx', content, { sheet: '1' })).sheet?.name).toBeDefined();
});

const ole = (text: string) =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from(text, 'utf16le')]);
const spreadsheet = 'application/vnd.oasis.opendocument.spreadsheet';
const cut = sheet([['a'], ['x']]).subarray(0, 900);
/** A directory with a false size does not evade the limit. */
const lying = (declared: number) => zipped(sheetOf(row(1, ['a']) + ' '.repeat(100_000)), { declared });

const old =
  'this is an old Excel workbook (.xls), or one with a password: save it as .xlsx without a password';

test.each<[title: string, content: Buffer, code: string, message: string]>([
  ['an old workbook', ole('x'), 'BINARY', old],
  ['one with a password', ole('EncryptedPackage'), 'BINARY', 'has a password: save a copy without one'],
  ['an OpenDocument spreadsheet', zipped({ mimetype: 'x', [spreadsheet]: '' }), 'BINARY', 'save it as .xlsx'],
  ['an incomplete one', cut, 'WORKBOOK_UNREADABLE', 'its directory is damaged'],
  ['one that says it is empty', lying(0), 'WORKBOOK_UNREADABLE', "can't be read as an Excel workbook"],
  ['one that says it is small', lying(10), 'WORKBOOK_UNREADABLE', "can't be read as an Excel workbook"],
])('%s is refused with a remedy', async (_title, content, code, message) => {
  const error = await failure('a.xlsx', content);
  expect(error.code).toBe(`MANIFEST_${code}`);
  expect(error.message).toContain(message);
});

test('a small file that unpacks to a large one is refused by the sizes in its directory', async () => {
  const bomb = sheet([['a'], ['x'.repeat(3_000_000)]]);
  expect(bomb.length).toBeLessThan(20_000);
  const error = await failure('a.xlsx', bomb, { context: { maxBytes: 1_000_000 } });
  expect(error.message).toBe(
    'a.xlsx: the unpacked workbook is larger than max_manifest_size (1 MB); split it, or raise that setting',
  );
});

/** Rows behind a header, by their numbers. */
const rowsBehind = (header: string, last: number, write: (line: number) => string) =>
  header + Array.from({ length: last - 1 }, (_, index) => write(index + 2)).join('');
const beyondMemory = 'too large to read into memory; save it as "CSV UTF-8"';

test('a small file whose cells share one large text is refused at the row where they exceed the limit', async () => {
  const parts = sheetOf(rowsBehind(row(1, ['title']), 1_001, (line) => row(line, ['s:0'])));
  const long = `<si><t>${'x'.repeat(1_000_000)}</t></si></sst>`;
  const strings = (parts['xl/sharedStrings.xml'] ?? '').replace('</sst>', long);
  const error = await failure('a.xlsx', zipped({ ...parts, 'xl/sharedStrings.xml': strings }));
  expect(error.message).toBe(
    `a.xlsx:301:1: the cells up to this row come to more than 300 MB, ${beyondMemory}`,
  );
});

test('a gzip file that unzips to an endless workbook is refused before it is in memory', async () => {
  const chunk = gzipSync(Buffer.alloc(10_000_000));
  const endless = Buffer.concat([
    gzipSync(sheet([['a'], ['x']])),
    ...Array.from({ length: 31 }, () => chunk),
  ]);
  expect((await failure('a.xlsx', endless)).message).toBe(
    `a.xlsx: this workbook has more than 300 MB, ${beyondMemory}`,
  );
});

test('cells to the right of the table are ignored at no cost', async () => {
  const write = (line: number) => row(line, line % 2 === 0 ? [`n:${line}`] : [], '', 'note');
  const all = await allRows(
    await openText('a.xlsx', zipped(sheetOf(rowsBehind(row(1, ['room_id']), 2_001, write)))),
  );
  expect(all).toHaveLength(1_000);
  expect(all[1]).toEqual({ row: 2, line: 4, cells: { room_id: '4' } });
});

test('a sheet of too many cells is refused before they are in memory', async () => {
  const rows = rowsBehind(row(1, ['x'], '', 'x'), 1_300, (line) => row(line, ['x'], '', 'x'));
  expect((await failure('a.xlsx', zipped(sheetOf(rows)))).message).toBe(
    `a.xlsx: this sheet has more than 20,000,000 cells, ${beyondMemory}`,
  );
});
