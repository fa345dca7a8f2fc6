import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { scanManifest } from '../../../../src/engine/manifest/check/scan.ts';
import { createRowPreparer } from '../../../../src/engine/manifest/columns/row-preparer.ts';
import { formatProblem } from '../../../../src/engine/rows/problem.ts';
import type { CallableRow, InvalidRow } from '../../../../src/engine/rows/row.ts';
import { dialects, sheetOf } from '../../../fixtures/workbooks/dialects.ts';
import { zipped } from '../../../fixtures/workbooks/zip.ts';
import { testOperations } from '../operations.ts';
import { allRows, failure, openText } from '../reading.ts';

const fixture = (name: string) => readFile(join('test/fixtures/workbooks', name));

/** A sheet of these rows, each the XML of its cells: `n:1` is a number, `e:#N/A` an error, and anything else text. */
function sheet(rows: readonly (readonly string[])[], name?: string): Buffer {
  const cell = (text: string, address: string): string => {
    const [, type, value = ''] = /^([nebf]):(.*)$/.exec(text) ?? [];
    if (type === undefined) return `<c r="${address}" t="inlineStr"><is><t>${text}</t></is></c>`;
    if (type === 'f') return `<c r="${address}"><f>${value}</f></c>`;
    return `<c r="${address}" t="${type}"><v>${value}</v></c>`;
  };
  const xml = rows.map((cells, row) => {
    const inner = cells.map((text, column) =>
      text === '' ? '' : cell(text, `${'ABCDEFG'[column]}${row + 1}`),
    );
    return `<row r="${row + 1}">${inner.join('')}</row>`;
  });
  return zipped(sheetOf(xml.join(''), name));
}

test.each(Object.keys(dialects))('%s is read exactly, with the rows that the program shows', async (name) => {
  const manifest = await openText(name, await fixture(name));
  expect(manifest).toMatchObject({
    format: 'xlsx',
    sheet: { name: 'Löschungen', others: [expect.any(String)] },
  });
  expect(await allRows(manifest)).toEqual([
    {
      row: 1,
      line: 2,
      cells: {
        'Evaluation ID': '9007199254740993',
        user_id: 'jörg',
        Datum: '2026-03-12',
        Gruß: 'jörg!',
        Erledigt: 'TRUE',
      },
    },
    {
      row: 2,
      line: 4,
      cells: { 'Evaluation ID': '131', user_id: 'qa-lead', Datum: '2026-03-12T10:30:00', Gruß: '262' },
    },
  ]);
  expect(await allRows(manifest)).toHaveLength(2);
  expect(['Evaluation ID', 'Gruß', 'x'].map((column) => manifest.lettersOf?.(column))).toEqual([
    'A',
    'D',
    undefined,
  ]);
});

test('a gzipped workbook is read, too', async () => {
  const manifest = await openText('a.xlsx.gz', await fixture('excel.xlsx'));
  expect(await allRows(manifest)).toHaveLength(2);
});

test('the format is recognized by the content', async () => {
  expect((await openText('export.csv', await fixture('excel.xlsx'))).format).toBe('xlsx');
});

test('the clear token, blanks and guarded cells of a report mean the same as in CSV', async () => {
  const rows = [
    ['room_id', 'title', '_guarded', '_row'],
    ['n:1', '&lt;clear&gt;', '', ''],
    ['n:2', "'=x ", 'yes', 'n:7'],
  ];
  const read = async (trim: boolean) => {
    const all = await allRows(await openText('a.xlsx', sheet(rows), { trim }));
    return all.map(({ cells }) => cells);
  };
  expect(await read(false)).toEqual([
    { room_id: '1', title: '' },
    { room_id: '2', title: '=x ' },
  ]);
  expect(await read(true)).toEqual([
    { room_id: '1', title: '' },
    { room_id: '2', title: '=x' },
  ]);
});

test('cells with errors make a row invalid and are named by address, but only cells of fields', async () => {
  const rows = [
    ['note', 'Room ID', 'title'],
    ['e:#N/A', 'n:7', 'ok'],
    ['', 'n:9.00719925474099E+15', 'b'],
    ['', 'n:8', 'e:#REF!'],
    ['', 'f:A1*2', 'd'],
    ['x', '', 'e'],
  ];
  const manifest = await openText('a.xlsx', sheet(rows));
  const preparer = createRowPreparer({ manifest, operations: testOperations });
  const prepared = (await allRows(manifest)).map(preparer);
  const problems = prepared.flatMap((row) =>
    row.kind === 'invalid'
      ? (row as InvalidRow).problems.map((problem) => formatProblem('a.xlsx', row, problem))
      : ['ok'],
  );
  expect(problems).toEqual([
    'ok',
    'a.xlsx:B3: Room ID: is a number with more than 15 digits, which Excel does not keep; format the column as text and enter the numbers again (9007199254740990)',
    'a.xlsx:C4: title: is a spreadsheet error; fix it there or clear the cell (#REF!)',
    'a.xlsx:B5: Room ID: is a formula without a stored result; open the file in Excel, save it, and use the saved file',
    expect.stringMatching(/^a\.xlsx:B6: Room ID: /),
  ]);
});

test.each([
  ['f:A1', 'is a formula without a stored result; open the file in Excel, save it, and use the saved file'],
  ['e:#N/A', 'is unknown; name one of close-ticket, rename-room (#N/A)'],
])(
  'a row whose operation is the cell %s is invalid, whatever the operation of rows that name none',
  async (cell, problem) => {
    const rows = [
      ['operation', 'room_id', 'title'],
      [cell, 'n:7', 'a'],
      ['', 'n:8', 'b'],
    ];
    const manifest = await openText('a.xlsx', sheet(rows));
    const preparer = createRowPreparer({ manifest, operation: 'rename-room', operations: testOperations });
    const [unusable, saysNone] = (await allRows(manifest)).map(preparer) as [InvalidRow, CallableRow];
    expect(unusable.problems.map((each) => formatProblem('a.xlsx', unusable, each))).toEqual([
      `a.xlsx:A2: operation: ${problem}`,
    ]);
    expect(saysNone.operation.name).toBe('rename-room');
  },
);

test('a title above the header is reported, and skipped when the user asks for that', async () => {
  const rows = [['Export'], [], ['Nr', 'Name'], ['n:1', 'x']];
  expect((await failure('a.xlsx', sheet(rows))).message).toBe(
    'a.xlsx:2:1: the column names seem to be on line 3, below a title; pass --skip-lines 2',
  );
  const manifest = await openText('a.xlsx', sheet(rows), { skipLines: 2 });
  expect(await allRows(manifest)).toEqual([{ row: 1, line: 4, cells: { Nr: '1', Name: 'x' } }]);
});

test('a sheet is chosen by its name or its number', async () => {
  const content = sheet([['a'], ['x']], '2');
  for (const wanted of ['2', '1']) {
    expect((await openText('a.xlsx', content, { sheet: wanted })).sheet?.name).toBe('2');
  }
  expect((await failure('a.xlsx', content, { sheet: 'Tabelle' })).message).toBe(
    'a.xlsx: there is no sheet "Tabelle"; the workbook has "2", "Leer": pass one of these names, or a number from 1',
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

/** A sheet whose rows 2 and 4 and column B are hidden. */
function filtered(): Buffer {
  const row = (line: number, id: string, hidden: string) => {
    const cells = [id, 'u1', 'x'].map(
      (text, index) => `<c r="${'ABC'[index]}${line}" t="inlineStr"><is><t>${text}</t></is></c>`,
    );
    return `<row r="${line}"${hidden}>${cells.join('')}</row>`;
  };
  const header = '<row r="1">'.concat(
    ...['ticket_id', 'user_id', 'note'].map(
      (name, index) => `<c r="${'ABC'[index]}1" t="inlineStr"><is><t>${name}</t></is></c>`,
    ),
    '</row>',
  );
  const rows = [
    row(2, '4', ' hidden="1"'),
    row(3, '6', ''),
    row(4, '8', ' hidden="true"'),
    row(5, '10', ' ht="0" customHeight="1"'),
  ];
  const parts = sheetOf(header + rows.join(''));
  const cols = '<cols><col min="2" max="3" width="9" hidden="1"/></cols><sheetData>';
  const [name = ''] = Object.keys(parts).filter((part) => part.startsWith('xl/worksheets/'));
  return zipped({ ...parts, [name]: (parts[name] ?? '').replace('<sheetData>', cols) });
}

test('hidden rows are refused until --hidden says what they mean', async () => {
  const error = await failure('a.xlsx', filtered());
  expect([error.code, error.message]).toEqual([
    'MANIFEST_HIDDEN_ROWS',
    'a.xlsx: 3 of the 4 rows of this sheet are hidden, as by a filter (first: row 2): pass --hidden skip to leave them out, or ' +
      '--hidden include to read them, too',
  ]);
  const lines = async (hidden: 'include' | 'skip') =>
    (await allRows(await openText('a.xlsx', filtered(), { hidden }))).map(({ row, line, cells }) => [
      row,
      line,
      cells['ticket_id'],
    ]);
  expect(await lines('skip')).toEqual([[1, 3, '6']]);
  expect(await lines('include')).toEqual([
    [1, 2, '4'],
    [2, 3, '6'],
    [3, 4, '8'],
    [4, 5, '10'],
  ]);
});

test('the plan names hidden rows, hidden columns that have a meaning, and an encoding without effect', async () => {
  const manifest = await openText('a.xlsx', filtered(), { hidden: 'skip', encoding: 'windows-1252' });
  const { warnings } = await scanManifest(
    manifest,
    createRowPreparer({ manifest, operations: testOperations }),
  );
  expect(warnings.map(({ message }) => message)).toEqual([
    '3 hidden rows are left out (--hidden skip)',
    'the column "user_id" is hidden in the workbook, but it is read',
    '--encoding has no effect: a workbook has its own',
  ]);
});

test('--hidden is refused for text, which has no hidden rows', async () => {
  const error = await failure('a.csv', 'ticket_id,user_id\n1,u\n', { hidden: 'skip' });
  expect([error.code, error.message]).toEqual([
    'MANIFEST_OPTION_UNSUITABLE',
    'a.csv: --hidden only works with Excel workbooks; leave it out',
  ]);
});

test('a hidden sheet is read only when it is named', async () => {
  const parts = sheetOf('<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>');
  const workbook = (parts['xl/workbook.xml'] ?? '').replace('sheetId="1"', 'sheetId="1" state="hidden"');
  const content = zipped({ ...parts, 'xl/workbook.xml': workbook });
  expect((await failure('a.xlsx', content)).message).toBe(
    'a.xlsx: no visible sheet of this workbook has rows; choose a hidden one with --sheet: "Tabelle1"',
  );
  expect((await openText('a.xlsx', content, { sheet: '1' })).sheet?.name).toBeDefined();
});

const ole = Buffer.from('d0cf11e0a1b11ae1', 'hex');

test.each<[title: string, content: Buffer, code: string, message: RegExp]>([
  [
    'an old workbook',
    Buffer.concat([ole, Buffer.alloc(600)]),
    'MANIFEST_BINARY',
    /old Excel workbook \(\.xls\), or one with a password: save it as \.xlsx/,
  ],
  [
    'one with a password',
    Buffer.concat([ole, Buffer.from('EncryptedPackage', 'utf16le')]),
    'MANIFEST_BINARY',
    /has a password: save a copy without one/,
  ],
  [
    'an OpenDocument spreadsheet',
    zipped({ mimetype: 'x', 'application/vnd.oasis.opendocument.spreadsheet': '' }),
    'MANIFEST_BINARY',
    /OpenDocument spreadsheet: save it as \.xlsx/,
  ],
  [
    'a text document',
    zipped({ '[Content_Types].xml': '<Types/>', 'word/document.xml': '<w/>' }),
    'MANIFEST_WORKBOOK_UNREADABLE',
    /can't be read as an Excel workbook \(.+\); save it as \.xlsx again/,
  ],
  [
    'an incomplete one',
    sheet([['a'], ['x']]).subarray(0, 900),
    'MANIFEST_WORKBOOK_UNREADABLE',
    /its directory is damaged/,
  ],
])('%s is refused with a remedy', async (_title, content, code, message) => {
  const error = await failure('a.xlsx', content);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(message);
});

test('a small file that unpacks to a large one is refused by the sizes in its directory', async () => {
  const bomb = sheet([['a'], ['x'.repeat(3_000_000)]]);
  expect(bomb.length).toBeLessThan(20_000);
  const error = await failure('a.xlsx', bomb, { context: { maxBytes: 1_000_000 } });
  expect(error.message).toBe(
    'a.xlsx: the unpacked workbook is larger than max_manifest_size (1 MB); split it, or raise that setting',
  );
});

test('a small file whose cells share one large text is refused at the row where they exceed the limit', async () => {
  const rows = Array.from(
    { length: 1_000 },
    (_, index) => `<row r="${index + 2}"><c r="A${index + 2}" t="s"><v>0</v></c></row>`,
  );
  const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>title</t></is></c></row>';
  const parts = sheetOf(header + rows.join(''));
  const shared = parts['xl/sharedStrings.xml']?.replace(
    '</sst>',
    `<si><t>${'x'.repeat(1_000_000)}</t></si></sst>`,
  );
  const error = await failure('a.xlsx', zipped({ ...parts, 'xl/sharedStrings.xml': shared ?? '' }));
  expect(error.message).toBe(
    'a.xlsx:301:1: the cells up to this row come to more than 300 MB, too large to read into memory; save it as "CSV UTF-8"',
  );
});

test('a gzip file that unzips to an endless workbook is refused before it is in memory', async () => {
  const beginning = sheet([['a'], ['x']]);
  const chunk = gzipSync(Buffer.alloc(10_000_000));
  const endless = Buffer.concat([gzipSync(beginning), ...Array.from({ length: 31 }, () => chunk)]);
  expect((await failure('a.xlsx', endless)).message).toBe(
    'a.xlsx: this workbook has more than 300 MB, too large to read into memory; save it as "CSV UTF-8"',
  );
});

test('a directory with false sizes does not evade the limit', async () => {
  const rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row>';
  for (const declared of [0, 10]) {
    const error = await failure('a.xlsx', zipped(sheetOf(rows + ' '.repeat(100_000)), { declared }));
    expect(error.code).toBe('MANIFEST_WORKBOOK_UNREADABLE');
  }
});

test('other formats have no sheets, and workbooks no row location', async () => {
  expect((await failure('a.csv', 'a\n1\n', { sheet: 'A' })).message).toBe(
    'a.csv: --sheet only works with Excel workbooks; leave it out',
  );
  const error = await failure('a.xlsx', gzipSync(''), { rowsAt: 'data' });
  expect(error.kind).toBe('usage');
});

test('cells to the right of the table are ignored at no cost', async () => {
  const far = (row: number) => `<c r="XFD${row}" t="inlineStr"><is><t>note</t></is></c>`;
  const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>room_id</t></is></c></row>';
  const rows = Array.from({ length: 2_000 }, (_, index) => {
    const row = index + 2;
    return `<row r="${row}">${row % 2 === 0 ? `<c r="A${row}"><v>${row}</v></c>` : ''}${row > 1 ? far(row) : ''}</row>`;
  });
  const all = await allRows(await openText('a.xlsx', zipped(sheetOf(header + rows.join('')))));
  expect(all).toHaveLength(1_000);
  expect(all[1]).toEqual({ row: 2, line: 4, cells: { room_id: '4' } });
  const noted = sheet([['room_id'], ['n:1', '', 'n:5'], ['', '', 'x']]);
  expect(await allRows(await openText('a.xlsx', noted))).toEqual([
    { row: 1, line: 2, cells: { room_id: '1' } },
  ]);
});

test('a sheet of too many cells is refused before they are in memory', async () => {
  const text = (address: string) => `<c r="${address}" t="inlineStr"><is><t>x</t></is></c>`;
  const rows = Array.from(
    { length: 1_300 },
    (_, row) => `<row r="${row + 1}">${text(`A${row + 1}`)}${text(`XFD${row + 1}`)}</row>`,
  );
  expect((await failure('a.xlsx', zipped(sheetOf(rows.join(''))))).message).toMatch(
    /^a\.xlsx: this sheet has more than 20000000 cells, too large to read into memory; save it as "CSV UTF-8"$/,
  );
});
