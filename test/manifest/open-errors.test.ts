import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { CqbatchError } from '../../src/errors.ts';
import { type OpenOptions, openManifest } from '../../src/manifest/open.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { allRows, manifestFile, openText } from './reading.ts';

/** The error that opening and reading ends with. */
async function failure(
  name: string,
  content: string | Buffer,
  options: OpenOptions = {},
): Promise<CqbatchError> {
  const error = await openText(name, content, options)
    .then(allRows)
    .catch((reason: unknown) => reason);
  if (!(error instanceof CqbatchError)) throw new Error('did not fail as it should', { cause: error });
  expect(error.kind).toBe('usage');
  return error;
}

const csv = 'evaluation_id,note\n1,Zoë\n2,x\n';

const utf16le = Buffer.from(csv, 'utf16le');
const utf16be = Buffer.from(utf16le).swap16();

test.each<[title: string, content: Buffer]>([
  ['UTF-16 LE with byte order mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16le])],
  ['UTF-16 BE with byte order mark', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be])],
  ['UTF-16 LE without', utf16le],
  ['UTF-16 BE without', utf16be],
])('%s is told, with the remedy', async (_title, content) => {
  for (const name of ['a.csv', 'a.csv.gz']) {
    const error = await failure(name, content);
    expect(error.code).toBe('MANIFEST_UTF16');
    expect(error.message).toMatch(new RegExp(`^${name}: this is UTF-16 text; save it as "CSV UTF-8".*iconv`));
  }
});

test('Latin-1 is told with offset, line, column and remedy', async () => {
  const error = await failure('a.csv', Buffer.from(csv, 'latin1'));
  expect(error.code).toBe('MANIFEST_NOT_UTF8');
  expect(error.message).toBe(
    'a.csv:2:5: byte 0xEB at offset 23 is not UTF-8 (in Latin-1 and Windows-1252 it is "ë"); ' +
      'save the file as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8 old.csv > new.csv',
  );
});

test('Latin-1 is found however late it comes, in every format', async () => {
  const ascii = Buffer.from(`id,note\n${'1,abcdefgh\n'.repeat(100_000)}`);
  const late = Buffer.concat([ascii, Buffer.from('2,\xe9\n', 'latin1')]);
  expect((await failure('a.csv', late)).message).toMatch(
    /^a\.csv:100002:3: byte 0xE9 at offset 1100010 is not/,
  );
  const lines = Buffer.concat([
    Buffer.from('{"a":1}\n'.repeat(100_000)),
    Buffer.from('{"a":"\xe9"}', 'latin1'),
  ]);
  expect((await failure('a.jsonl', lines)).message).toMatch(/^a\.jsonl:100001:7: byte 0xE9 at offset 800006/);
});

test('a byte order mark counts in the offset but not in the column', async () => {
  const content = Buffer.concat([Buffer.from('\ufeffid,'), Buffer.from('\xe9\n1,2\n', 'latin1')]);
  expect((await failure('a.csv', content)).message).toMatch(/^a\.csv:1:4: byte 0xE9 at offset 6 /);
});

const zip = (firstMember: string, data: string) => {
  const header = Buffer.alloc(30);
  header.write('PK\x03\x04', 'latin1');
  header.writeUInt16LE(firstMember.length, 26);
  return Buffer.concat([header, Buffer.from(firstMember + data)]);
};
const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
const tar = Buffer.alloc(1024);
tar.write('ustar\0', 257, 'latin1');

test.each<[title: string, content: Buffer, problem: string]>([
  [
    'an .xlsx',
    zip('[Content_Types].xml', 'x'),
    'this is an Excel workbook: save it as "CSV UTF-8" and use that file',
  ],
  ['an .xls', ole, 'this is an Excel workbook: save it as "CSV UTF-8" and use that file'],
  [
    'an .ods',
    zip('mimetype', 'application/vnd.oasis.opendocument.spreadsheet'),
    'this is an OpenDocument spreadsheet: save it as CSV in UTF-8 and use that file',
  ],
  ['a .zip', zip('rows.csv', csv), 'this is a ZIP archive: unpack it and use the file inside'],
  ['a .pdf', Buffer.from('%PDF-1.7\n%\xe2\xe3'), 'this is a PDF: export the data as CSV UTF-8'],
  ['a tar archive', tar, 'this is a tar archive: unpack it and use the file inside'],
  ['gzip in gzip', gzipSync(gzipSync(csv)), 'this is gzipped twice: unzip it once'],
  ['zstd', Buffer.from('28b52ffd00', 'hex'), 'this is Zstandard data: unpack it and use the file inside'],
  ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'this is no text'],
])('%s is told, with the remedy', async (_title, content, problem) => {
  const error = await failure('a.csv', content);
  expect(error.code).toBe('MANIFEST_BINARY');
  expect(error.message).toContain(problem);
});

test.each(['<!DOCTYPE html><html>', '\n<html lang="en">', '<?xml version="1.0"?><rows/>'])(
  'markup is told: %s',
  async (content) => {
    const error = await failure('a.csv', content);
    expect([error.code, error.message]).toEqual([
      'MANIFEST_MARKUP',
      'a.csv: this is HTML or XML, no manifest; was it saved from a web page that asked to log in?',
    ]);
  },
);

test.each<[title: string, name: string, content: string, code: string, message: string]>([
  [
    'an empty file',
    'a.csv',
    '',
    'MANIFEST_EMPTY',
    'a.csv: the file is empty; it must hold a header line and rows',
  ],
  [
    'an empty gzip',
    'a.csv.gz',
    '',
    'MANIFEST_EMPTY',
    'a.csv.gz: the file is empty; it must hold a header line and rows',
  ],
  [
    'white space',
    'a.csv',
    '\ufeff \r\n\n',
    'MANIFEST_EMPTY',
    'a.csv: the file is empty; it must hold a header line and rows',
  ],
  [
    'a header alone',
    'a.csv',
    'a,b\n\n',
    'MANIFEST_EMPTY',
    'a.csv: the manifest has no rows; add at least one',
  ],
  ['an empty array', 'a.json', '[ ]', 'MANIFEST_EMPTY', 'a.json: the manifest has no rows; add at least one'],
  [
    'empty rows',
    'a.json',
    '{"rows":[]}',
    'MANIFEST_EMPTY',
    'a.json: the manifest has no rows; add at least one',
  ],
  [
    'no names',
    'a.csv',
    ',,\n1,2,3\n',
    'MANIFEST_NO_HEADER',
    'a.csv:1: the first line names no column; it must hold the column names',
  ],
  [
    "only the tool's own names",
    'a.csv',
    '_row,_code\n1,2\n',
    'MANIFEST_NO_HEADER',
    'a.csv:1: the first line names no column; it must hold the column names',
  ],
  [
    'data instead of a header',
    'a.csv',
    '\n123,u\n124,u\n',
    'MANIFEST_NO_HEADER',
    'a.csv:2: the first line looks like data ("123"); it must hold the column names, such as evaluation_id',
  ],
  [
    'a column twice',
    'a.csv',
    'a,b,a\n1,2,3\n',
    'MANIFEST_DUPLICATE_COLUMN',
    'a.csv:1: columns 1 and 3 are both called "a"; rename or delete one',
  ],
])('%s is an error with a remedy', async (_title, name, content, code, message) => {
  const error = await failure(name, content);
  expect([error.code, error.message]).toEqual([code, message]);
});

const inside =
  'quote inside a cell that does not begin with one; put the whole cell in quotes and double those inside';
const after = (line: number) =>
  `text after the closing quote of a cell whose quote opened on line ${line}; close it where the cell ends, and double the quotes inside`;

test.each<[content: string, message: string]>([
  ['a,b\n1,"x\n2,y\n', 'a.csv:2:3: this quote is never closed'],
  ['a,b\n1,"x\n2,"y"\n', `a.csv:3:4: ${after(2)}`],
  ['a,b\r\n"Zoë","x"y\r\n', `a.csv:2:10: ${after(2)}`],
  ['\ufeffa,b\n"1\n\n",2\n1,12" record\n', `a.csv:5:5: ${inside}`],
  ['a;"b\n1;2\n', 'a.csv:1:3: this quote is never closed'],
  ['a,b\n1,"""\n', 'a.csv:2:3: this quote is never closed'],
])('a quote out of place is told with line and column: %j', async (content, message) => {
  const error = await failure('a.csv', content);
  expect([error.code, error.message]).toEqual(['MANIFEST_SYNTAX', message]);
});

test.each<[content: string, message: RegExp]>([
  ['[{"a":1},', /^a\.json:1:10: the file ends too early; is it cut off\?$/],
  ['[\n{"a":1},\n{"a":', /^a\.json:3:1: the file ends inside this value; is it cut off\?$/],
  ['[{"a":1}\n{"a":2}]', /^a\.json:2:1: expected , or \], not "\{"$/],
  ['[{"a":1},\n]', /^a\.json:2:1: expected a value, not "\]"$/],
  ['[{"a":1}]\n]', /^a\.json:2:1: text after the end of the array$/],
  ['[{"a":"ë"},\n{"é":"x" "b":2}]', /^a\.json:2:10: /],
  ['[{"a":\n  tru}]', /^a\.json:2:\d: /],
  ['[{"a":1},{"a":"x\n"}]', /^a\.json:1:15: this string is not closed on its line$/],
  ['[{"a":"\t"}]', /^a\.json:1:8: control character in a string; write it as \\t$/],
  ['{"rows":[{"a":1}] "x":1}', /^a\.json:1:19: expected , or \}, not """$/],
  ['{rows:[]}', /^a\.json:1:2: expected a name in double quotes, not "r"$/],
  [
    '{"rows":[{"a":1}],"default":{}}',
    /^a\.json:1:29: unknown member "default"; known are operation, defaults and rows$/,
  ],
  ['{"operation":1,"rows":[{"a":1}]}', /^a\.json:1:14: "operation" must be the name of an operation$/],
  ['{"defaults":[],"rows":[{"a":1}]}', /^a\.json:1:13: "defaults" must be an object/],
  [
    '{"defaults":{"userId":1,"user_id":2},"rows":[{"a":1}]}',
    /^a\.json:1:13: "defaults" has two values for user_id; keep one of them$/,
  ],
  ['{\n"a":1\n}', /^a\.json:1:1: this object has no array "rows"; write \[ rows \]/],
  ['oops', /^a\.json:1:1: a JSON manifest must begin with \[ or \{$/],
])('broken JSON is told with line and column: %j', async (content, message) => {
  const error = await failure('a.json', content);
  expect([error.code, error.message]).toEqual(['MANIFEST_SYNTAX', expect.stringMatching(message)]);
});

test.each<[content: string, where: string, name: string]>([
  ['[{"evaluation_id":1,"note":"x","evaluation_id":2}]', '1:32', 'evaluation_id'],
  ['[{"a":1},\n  {"é":"🙂",\n "a":1, "a":1}]', '3:9', 'a'],
  ['[{"evaluation_id":1,"evaluation\\u005fid":2}]', '1:21', 'evaluation_id'],
  ['[{"":1,"":2}]', '1:8', ''],
  ['[{"__proto__":1,"__proto__":2}]', '1:17', '__proto__'],
  ['[{"_row":1,"_row":2}]', '1:12', '_row'],
  ['[{"a":12345678901234567890,"a":12345678901234567890}]', '1:28', 'a'],
  ['[{"note":{"deep":[{"x":":","x":"{"}]}}]', '1:28', 'x'],
  ['[{"a":{"b":1,"c":2},"a":null}]', '1:21', 'a'],
  ['{"defaults":{"user_id":"u","user_id":"v"},"rows":[{"a":1}]}', '1:28', 'user_id'],
  ['{"defaults":{"user_id":"u","user\\u005fid":"v"},"rows":[{"a":1}]}', '1:28', 'user_id'],
  ['{"rows":[{"a":1},{"b":1,"b":2}]}', '1:25', 'b'],
  ['{"rows":[{"a":1}],"rows":[]}', '1:26', 'rows'],
  ['{"rows":[{"a":1}],"ro\\u0077s":[]}', '1:31', 'rows'],
  ['{"rows":[{"a":1}],"rows":1}', '1:26', 'rows'],
  ['{"defaults":{},"defaults":{},"rows":[{"a":1}]}', '1:27', 'defaults'],
  ['{"operation":"x","rows":[{"a":1}],"operation":"y"}', '1:47', 'operation'],
])('a name that stands twice in an object is refused where it is: %j', async (content, where, name) => {
  const error = await failure('a.json', content);
  expect([error.code, error.message]).toEqual([
    'MANIFEST_REPEATED_NAME',
    `a.json:${where}: "${name}" stands twice in this object; keep one of them`,
  ]);
});

test('a line of JSON Lines that has a name twice is an invalid row of which nothing is taken', async () => {
  const rows = await allRows(
    await openText('a.jsonl', '{"id":1,"a":"🙂","id":2}\n{"id":3,"a":{"b":1,"\\u0062":1}}\n{"id":4}\n'),
  );
  expect(rows).toMatchObject([
    {
      cells: {},
      problem: { problem: '"id" stands twice in this object; keep one of them (character 17 of the line)' },
    },
    {
      cells: {},
      problem: { problem: '"b" stands twice in this object; keep one of them (character 20 of the line)' },
    },
    { cells: { id: 4 } },
  ]);
  expect(rows[0]?.cells).toEqual({});
});

test('JSON that is nested too deeply is refused', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  expect((await failure('a.json', `[{"a":${deep}}]`)).code).toBe('MANIFEST_SYNTAX');
  const [row] = await allRows(await openText('a.jsonl', `{"a":${deep}}`));
  expect(row?.problem?.problem).toMatch(/^is not JSON: .*deep/);
});

test.each(['a.csv', 'a.json', 'a.jsonl'])(
  'a record of %s beyond the limit is refused where it begins',
  async (name) => {
    const huge = 'x'.repeat(2_000_000);
    const content = {
      'a.csv': `id,note\n1,a\n2,"${huge}"\n`,
      'a.json': `[\n{"a":1},\n{"a":"${huge}"}]`,
      'a.jsonl': `{"a":1}\n\n{"a":"${huge}"}`,
    }[name] as string;
    const error = await failure(name, content, { maxRecordBytes: 1_000_000 });
    expect(error.code).toBe('MANIFEST_RECORD_TOO_LARGE');
    expect(error.message).toMatch(new RegExp(`^${name}:3:1: .*larger than 1000000 bytes`));
    expect(await allRows(await openText(name, content, { maxRecordBytes: 3_000_000 }))).toHaveLength(2);
  },
);

test('a record of nothing but delimiters beyond the limit is refused', async () => {
  const error = await failure('a.csv', `a,b\n${','.repeat(1_000_000)}\n`, { maxRecordBytes: 100_000 });
  expect(error.code).toBe('MANIFEST_RECORD_TOO_LARGE');
});

test.each<[title: string, content: string]>([
  ['CSV', `${Array.from({ length: 20_000 }, (_, index) => `c${index}`).join(',')}\n1\n`],
  ['JSON', `[${Array.from({ length: 20_000 }, (_, index) => `{"c${index}":1}`).join(',')}]`],
])('more columns than a spreadsheet has are refused: %s', async (_title, content) => {
  expect((await failure('a', content)).code).toBe('MANIFEST_TOO_MANY_COLUMNS');
});

test('a truncated gzip and a damaged one are told', async () => {
  const path = await manifestFile('a.csv.gz', csv.repeat(1000));
  await truncate(path, 60);
  const truncated = await openManifest(path)
    .then(allRows)
    .catch((error: unknown) => error);
  expect(truncated).toMatchObject({
    code: 'MANIFEST_GZIP_TRUNCATED',
    message: `${path}: the gzip data ends early; copy or download the file again`,
  });
  await writeFile(path, gzipSync(csv).fill(0x55, 20, 30));
  const damaged = await openManifest(path)
    .then(allRows)
    .catch((error: unknown) => error);
  expect(damaged).toMatchObject({ code: 'MANIFEST_GZIP_DAMAGED' });
});

test('what is no regular file is told', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'sub'));
  await symlink('/dev/null', join(folder, 'device'));
  await expect(openManifest(join(folder, 'gone.csv'))).rejects.toMatchObject({ code: 'MANIFEST_NOT_FOUND' });
  await expect(openManifest(join(folder, 'sub'))).rejects.toMatchObject({ code: 'MANIFEST_NOT_A_FILE' });
  await expect(openManifest(join(folder, 'device'))).rejects.toMatchObject({
    code: 'MANIFEST_NOT_A_FILE',
    message: expect.stringMatching(/standard input \(-\), if that is meant$/),
  });
});
