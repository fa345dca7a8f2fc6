import { truncate, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { allRows, failure, manifestFile, openText } from './reading.ts';

const csv = 'evaluation_id,note\n1,Zoë\n2,x\n';
const latin = (text: string) => Buffer.from(text, 'latin1');
const utf16le = Buffer.from(csv, 'utf16le');

test.each<[encoding: string, content: Buffer]>([
  ['utf-16le', utf16le],
  ['utf-16be', Buffer.from(utf16le).swap16()],
])('%s without a byte order mark is reported, with the remedy', async (encoding, content) => {
  for (const name of ['a.csv', 'a.csv.gz']) {
    const { code, message } = await failure(name, content);
    expect([code, message]).toEqual([
      'MANIFEST_UTF16',
      `${name}: this is UTF-16 text; pass --encoding ${encoding}`,
    ]);
  }
});

test('Latin-1 is reported with offset, line, column and remedy', async () => {
  const error = await failure('a.csv', latin(csv));
  expect(error.code).toBe('MANIFEST_NOT_UTF8');
  expect(error.message).toBe(
    'a.csv:2:5: byte 0xEB at offset 23 is not UTF-8 (in Windows-1252 it is "ë"); ' +
      'save the file as "CSV UTF-8", or pass its encoding, such as --encoding windows-1252',
  );
});

test.each([
  [0x80, ' (in Windows-1252 it is "€")'],
  [0x81, ''],
])('the message about byte %i says what it is in Windows-1252, if anything', async (byte, meaning) => {
  const { message } = await failure('a.csv', Buffer.concat([latin('id\n'), Buffer.of(byte)]));
  expect(message).toContain(`is not UTF-8${meaning}; save the file`);
});

test.each<[name: string, content: Buffer, message: RegExp]>([
  // However late it comes.
  [
    'a.csv',
    latin(`id,note\n${'1,abcdefgh\n'.repeat(1e5)}2,\xe9\n`),
    /^a\.csv:100002:3: .* offset 1100010 is not/,
  ],
  ['a.jsonl', latin(`${'{"a":1}\n'.repeat(1e5)}{"a":"\xe9"}`), /^a\.jsonl:100001:7: .* offset 800006 is not/],
  // A byte order mark counts in the offset but not in the column.
  [
    'b.csv',
    Buffer.concat([Buffer.from('\ufeffid,'), latin('\xe9\n1,2\n')]),
    /^b\.csv:1:4: .* offset 6 is not/,
  ],
])('the first byte that is not UTF-8 is found in %s', async (name, content, message) => {
  expect((await failure(name, content)).message).toMatch(message);
});

const tar = Buffer.alloc(1024);
tar.write('ustar\0', 257, 'latin1');

// Workbooks, and what is taken for one: workbook/sheet.test.ts.
test.each<[title: string, content: Buffer, problem: string]>([
  ['a .zip', latin('PK\x03\x04 rows.csv'), 'this is a ZIP archive: unpack it and use the file inside'],
  ['a .pdf', latin('%PDF-1.7\n%\xe2\xe3'), 'this is a PDF: export the data as CSV UTF-8'],
  ['a tar archive', tar, 'this is a tar archive: unpack it and use the file inside'],
  ['gzip in gzip', gzipSync(gzipSync(csv)), 'this is gzipped twice: unzip it first'],
])('%s is reported, with the remedy', async (_title, content, problem) => {
  const error = await failure('a.csv', content);
  expect(error.code).toBe('MANIFEST_BINARY');
  expect(error.message).toContain(problem);
});

const markup = 'a.csv: this is HTML or XML, not a manifest; was it saved from a login page?';
const saveIt = 'open it in Excel or LibreOffice, save it as "Excel Workbook (.xlsx)", and use that file';
const empty = ': the file is empty; it must have a header line and rows';
const nameless = 'a.csv:1: the first line has no column names; add them';
const data =
  'a.csv:2: the first line looks like data ("123"); it must have the column names, such as evaluation_id';
const twice = 'a.csv:1: columns 1 and 3 are both called "a"; rename or delete one';

test.each<[content: string, code: string, message: string, name?: string]>([
  ['<?xml version="1.0"?><rows/>', 'MARKUP', markup],
  ['<!DOCTYPE html><html><body><form>Sign in</form>', 'MARKUP', markup],
  [
    '<table><tr><td>evaluation_id</td></tr>',
    'MARKUP',
    `a.xls: this is an HTML table, as many systems export as .xls: ${saveIt}`,
    'a.xls',
  ],
  [
    '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head>',
    'MARKUP',
    `a.xls: this is an HTML table, as many systems export as .xls: ${saveIt}`,
    'a.xls',
  ],
  [
    '\ufeff<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook>',
    'MARKUP',
    `a.xls: this is an XML spreadsheet, as some systems export as .xls: ${saveIt}`,
    'a.xls',
  ],
  [
    '<ss:Workbook xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">',
    'MARKUP',
    `a.xls: this is an XML spreadsheet, as some systems export as .xls: ${saveIt}`,
    'a.xls',
  ],
  [
    'MIME-Version: 1.0\nX-Document-Type: Workbook\n',
    'MARKUP',
    `a.xls: this is a web archive, as some systems export as .xls: ${saveIt}`,
    'a.xls',
  ],
  ['', 'EMPTY', `a.csv.gz${empty}`, 'a.csv.gz'],
  ['\ufeff \r\n\n', 'EMPTY', `a.csv${empty}`],
  ['_row,_code\n1,2\n', 'NO_HEADER', nameless],
  [' ,,\n123,2,3\n', 'NO_HEADER', data],
  ['\n123,u\n124,u\n', 'NO_HEADER', data],
  ['a,b,a\n1,2,3\n', 'DUPLICATE_COLUMN', twice],
])('a file without a header is refused with a remedy: %j', async (content, code, message, name = 'a.csv') => {
  const error = await failure(name, content);
  expect([error.code, error.message]).toEqual([`MANIFEST_${code}`, message]);
});

const inside =
  'quote inside a cell that is not quoted; put the whole cell in quotes and double the quotes inside';
const after =
  'text after the closing quote of a cell whose quote opened on line 2; close it where the cell ends, and double the quotes inside';

test.each<[content: string, message: string]>([
  ['a,b\n1,"x\n2,y\n', 'a.csv:2:3: this quote is never closed'],
  ['a,b\n1,"x\n2,"y"\n', `a.csv:3:4: ${after}`],
  ['\ufeffa,b\n"1\n\n",2\n1,12" record\n', `a.csv:5:5: ${inside}`],
])('a misplaced quote is reported with line and column: %j', async (content, message) => {
  const error = await failure('a.csv', content);
  expect([error.code, error.message]).toEqual(['MANIFEST_SYNTAX', message]);
});

test.each<[name: string, contentOf: (cell: string) => string]>([
  ['a.csv', (cell) => `id,note\n1,a\n2,"${cell}"\n`],
  ['a.json', (cell) => `[\n{"a":1},\n{"a":"${cell}"}]`],
  ['a.jsonl', (cell) => `{"a":1}\n\n{"a":"${cell}"}`],
])('a record of %s beyond the limit is refused where it begins', async (name, contentOf) => {
  const error = await failure(name, contentOf('x'.repeat(18_000_000)));
  expect(error.code).toBe('MANIFEST_RECORD_TOO_LARGE');
  expect(error.message).toMatch(new RegExp(`^${name}:3:1: .*larger than 16777216 bytes`));
  expect(await allRows(await openText(name, contentOf('x'.repeat(16_000_000))))).toHaveLength(2);
});

const manyColumns = Array.from({ length: 20_000 }, (_, index) => `c${index}`);

test.each<[code: string, what: string, content: string]>([
  ['RECORD_TOO_LARGE', 'a record of only delimiters', `a,b\n${','.repeat(18_000_000)}\n`],
  ['TOO_MANY_COLUMNS', 'a header', `${manyColumns}\n1\n`],
  ['TOO_MANY_COLUMNS', 'the keys of rows', `[${manyColumns.map((name) => `{"${name}":1}`)}]`],
])('the code is %s for %s beyond the limit', async (code, _what, content) => {
  expect((await failure('a', content)).code).toBe(`MANIFEST_${code}`);
});

test('truncated and damaged gzip files are reported', async () => {
  const path = await manifestFile('a.csv.gz', csv.repeat(1000));
  const reading = () => openManifest(path).then(allRows);
  await truncate(path, 60);
  await expect(reading()).rejects.toMatchObject({
    code: 'MANIFEST_GZIP_TRUNCATED',
    message: `${path}: the gzip data ends early; copy or download the file again`,
  });
  await writeFile(path, gzipSync(csv).fill(0x55, 20, 30));
  await expect(reading()).rejects.toMatchObject({ code: 'MANIFEST_GZIP_DAMAGED' });
});

test.each([
  ['a.csv.gz', 'evaluation_id,note\n1,x\n', '2,x\n'],
  ['a.json.gz', '[{"a":1},', '{"a":2}]'],
])('%s that unzips to many blank lines is refused where there are too many', async (name, beginning, end) => {
  const text = (blankLines: number) => beginning + '\n'.repeat(blankLines) + end;
  expect(await allRows(await openText(name, text(1_000_000)))).toHaveLength(2);
  const error = await failure(name, text(5_000_000));
  expect(error.code).toBe('MANIFEST_TOO_LARGE');
  expect(error.message).toMatch(
    /^a\.\w+\.gz:\d{7,8}:1: more than 4 MiB of blank lines up to here; delete them$/,
  );
});

test.each<[title: string, inUtf8: string, inLatin: string, isBefore?: boolean]>([
  ['after a line in UTF-8', 'id,title\n2,Größe\n', '4,München\n'],
  ['before it', '2,Größe', 'id,title\n4,München\n', true],
  ['far from it', `id\nЖизнь\n${'a\n'.repeat(400_000)}`, 'é'],
])('a line in another encoding %s: no --encoding is advised', async (_, inUtf8, inLatin, isBefore) => {
  const parts = [Buffer.from(inUtf8), latin(inLatin)];
  const { code, message } = await failure('a.csv', Buffer.concat(isBefore ? parts.reverse() : parts));
  expect(code).toBe('MANIFEST_NOT_UTF8');
  expect(message).toMatch(
    /, but line [23] is UTF-8 \(.*\): the file mixes encodings, so that no --encoding reads it right; save /,
  );
  expect(message).not.toMatch(/windows-1252;|--encoding \w+-/);
});

test.each<[encoding: string, content: Buffer]>([
  ['windows-1252', latin('id,title\n1,München\n2,«LIBERTÉ»\n3,É»\n')],
  ['gbk', Buffer.from('69640a31c1aacda80a32d6d0b9fac8cbc3f10a', 'hex')],
])('text in %s that has a few bytes as in UTF-8 does not mix encodings', async (_, content) => {
  expect((await failure('a.csv', content)).message).toMatch(
    /or pass its encoding, such as --encoding windows-1252$/,
  );
});
