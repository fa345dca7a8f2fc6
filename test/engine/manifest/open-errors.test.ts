import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { allRows, failure, manifestFile, openText } from './reading.ts';

const csv = 'evaluation_id,note\n1,Zoë\n2,x\n';

const utf16le = Buffer.from(csv, 'utf16le');
const utf16be = Buffer.from(utf16le).swap16();

test.each<[title: string, content: Buffer]>([
  ['utf-16le', utf16le],
  ['utf-16be', utf16be],
])('%s without a byte order mark is reported, with the remedy', async (encoding, content) => {
  for (const name of ['a.csv', 'a.csv.gz']) {
    const error = await failure(name, content);
    expect(error.code).toBe('MANIFEST_UTF16');
    expect(error.message).toBe(`${name}: this is UTF-16 text; pass --encoding ${encoding}`);
  }
});

test('Latin-1 is reported with offset, line, column and remedy', async () => {
  const error = await failure('a.csv', Buffer.from(csv, 'latin1'));
  expect(error.code).toBe('MANIFEST_NOT_UTF8');
  expect(error.message).toBe(
    'a.csv:2:5: byte 0xEB at offset 23 is not UTF-8 (in Windows-1252 it is "ë"); ' +
      'save the file as "CSV UTF-8", or pass its encoding, such as --encoding windows-1252',
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
  ['an .xls', ole, 'this is an old Excel workbook (.xls), or one with a password: save it as .xlsx'],
  [
    'an .ods',
    zip('mimetype', 'application/vnd.oasis.opendocument.spreadsheet'),
    'this is an OpenDocument spreadsheet: save it as .xlsx and use that file',
  ],
  ['a .zip', zip('rows.csv', csv), 'this is a ZIP archive: unpack it and use the file inside'],
  ['a .pdf', Buffer.from('%PDF-1.7\n%\xe2\xe3'), 'this is a PDF: export the data as CSV UTF-8'],
  ['a tar archive', tar, 'this is a tar archive: unpack it and use the file inside'],
  ['gzip in gzip', gzipSync(gzipSync(csv)), 'this is gzipped twice: unzip it first'],
  ['zstd', Buffer.from('28b52ffd00', 'hex'), 'this is Zstandard data: unpack it and use the file inside'],
  ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'this is not text'],
])('%s is reported, with the remedy', async (_title, content, problem) => {
  const error = await failure('a.csv', content);
  expect(error.code).toBe('MANIFEST_BINARY');
  expect(error.message).toContain(problem);
});

test.each(['<!DOCTYPE html><html>', '\n<html lang="en">', '<?xml version="1.0"?><rows/>'])(
  'markup is reported: %s',
  async (content) => {
    const error = await failure('a.csv', content);
    expect([error.code, error.message]).toEqual([
      'MANIFEST_MARKUP',
      'a.csv: this is HTML or XML, not a manifest; was it saved from a login page?',
    ]);
  },
);

test.each<[title: string, name: string, content: string, code: string, message: string]>([
  [
    'an empty file',
    'a.csv',
    '',
    'MANIFEST_EMPTY',
    'a.csv: the file is empty; it must have a header line and rows',
  ],
  [
    'an empty gzip',
    'a.csv.gz',
    '',
    'MANIFEST_EMPTY',
    'a.csv.gz: the file is empty; it must have a header line and rows',
  ],
  [
    'white space',
    'a.csv',
    '\ufeff \r\n\n',
    'MANIFEST_EMPTY',
    'a.csv: the file is empty; it must have a header line and rows',
  ],
  [
    'no names',
    'a.csv',
    ' ,,\n1,2,3\n',
    'MANIFEST_NO_HEADER',
    'a.csv:1: the first line has no column names; add them',
  ],
  [
    "only the tool's own names",
    'a.csv',
    '_row,_code\n1,2\n',
    'MANIFEST_NO_HEADER',
    'a.csv:1: the first line has no column names; add them',
  ],
  [
    'data instead of a header',
    'a.csv',
    '\n123,u\n124,u\n',
    'MANIFEST_NO_HEADER',
    'a.csv:2: the first line looks like data ("123"); it must have the column names, such as evaluation_id',
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
  'quote inside a cell that is not quoted; put the whole cell in quotes and double the quotes inside';
const after = (line: number) =>
  `text after the closing quote of a cell whose quote opened on line ${line}; close it where the cell ends, and double the quotes inside`;

test.each<[content: string, message: string]>([
  ['a,b\n1,"x\n2,y\n', 'a.csv:2:3: this quote is never closed'],
  ['a,b\n1,"x\n2,"y"\n', `a.csv:3:4: ${after(2)}`],
  ['a,b\r\n"Zoë","x"y\r\n', `a.csv:2:10: ${after(2)}`],
  ['\ufeffa,b\n"1\n\n",2\n1,12" record\n', `a.csv:5:5: ${inside}`],
  ['a;"b\n1;2\n', 'a.csv:1:3: this quote is never closed'],
  ['a,b\n1,"""\n', 'a.csv:2:3: this quote is never closed'],
])('a misplaced quote is reported with line and column: %j', async (content, message) => {
  const error = await failure('a.csv', content);
  expect([error.code, error.message]).toEqual(['MANIFEST_SYNTAX', message]);
});

test.each(['a.csv', 'a.json', 'a.jsonl'])(
  'a record of %s beyond the limit is refused where it begins',
  async (name) => {
    const contentOf = (size: number) => {
      const huge = 'x'.repeat(size);
      return {
        'a.csv': `id,note\n1,a\n2,"${huge}"\n`,
        'a.json': `[\n{"a":1},\n{"a":"${huge}"}]`,
        'a.jsonl': `{"a":1}\n\n{"a":"${huge}"}`,
      }[name] as string;
    };
    const error = await failure(name, contentOf(18_000_000));
    expect(error.code).toBe('MANIFEST_RECORD_TOO_LARGE');
    expect(error.message).toMatch(new RegExp(`^${name}:3:1: .*larger than 16777216 bytes`));
    expect(await allRows(await openText(name, contentOf(16_000_000)))).toHaveLength(2);
  },
);

test('a record of only delimiters beyond the limit is refused', async () => {
  const error = await failure('a.csv', `a,b\n${','.repeat(18_000_000)}\n`);
  expect(error.code).toBe('MANIFEST_RECORD_TOO_LARGE');
});

test.each<[title: string, content: string]>([
  ['CSV', `${Array.from({ length: 20_000 }, (_, index) => `c${index}`).join(',')}\n1\n`],
  ['JSON', `[${Array.from({ length: 20_000 }, (_, index) => `{"c${index}":1}`).join(',')}]`],
])('more columns than a spreadsheet has are refused: %s', async (_title, content) => {
  expect((await failure('a', content)).code).toBe('MANIFEST_TOO_MANY_COLUMNS');
});

test('truncated and damaged gzip files are reported', async () => {
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

test('a path that is not a regular file is reported', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'sub'));
  await symlink('/dev/null', join(folder, 'device'));
  await expect(openManifest(join(folder, 'gone.csv'))).rejects.toMatchObject({ code: 'MANIFEST_NOT_FOUND' });
  await expect(openManifest(join(folder, 'sub'))).rejects.toMatchObject({ code: 'MANIFEST_NOT_A_FILE' });
  await expect(openManifest(join(folder, 'device'))).rejects.toMatchObject({
    code: 'MANIFEST_NOT_A_FILE',
    message: expect.stringMatching(/not a file; to read from it, pass it as standard input \(-\)$/),
  });
});

test.each<[name: string, beginning: string, blanks: string, end: string]>([
  ['a.csv.gz', 'evaluation_id,note\n1,x\n', '\n', '2,x\n'],
  ['a.json.gz', '[{"a":1},', '\n', '{"a":2}]'],
])(
  '%s that unzips to many blank lines is refused where there are too many',
  async (name, beginning, blanks, end) => {
    const text = (bytes: number) => beginning + blanks.repeat(bytes / blanks.length) + end;
    expect(await allRows(await openText(name, text(1_000_000)))).toHaveLength(2);
    const error = await failure(name, text(5_000_000));
    expect(error.code).toBe('MANIFEST_TOO_LARGE');
    expect(error.message).toMatch(
      /^a\.\w+\.gz:\d{7,8}:1: more than 4 MiB of blank lines up to here; delete them$/,
    );
  },
);

test.each<[title: string, content: Buffer]>([
  [
    'after a line in UTF-8',
    Buffer.concat([Buffer.from('id,title\n2,Größe\n'), Buffer.from('4,München\n', 'latin1')]),
  ],
  ['before it', Buffer.concat([Buffer.from('id,title\n4,München\n', 'latin1'), Buffer.from('2,Größe')])],
  [
    'far from it',
    Buffer.concat([Buffer.from(`id\nЖизнь\n${'a\n'.repeat(400_000)}`), Buffer.from('é', 'latin1')]),
  ],
])(
  'a line in another encoding %s: the file mixes encodings, and no --encoding is advised',
  async (_, content) => {
    const { code, message } = await failure('a.csv', content);
    expect(code).toBe('MANIFEST_NOT_UTF8');
    expect(message).toMatch(
      /, but line [23] is UTF-8 \(.*\): the file mixes encodings, so that no --encoding reads it right; save /,
    );
    expect(message).not.toMatch(/windows-1252;|--encoding \w+-/);
  },
);

test.each<[encoding: string, content: Buffer]>([
  ['windows-1252', Buffer.from('id,title\n1,München\n2,«LIBERTÉ»\n3,É»\n', 'latin1')],
  ['gbk', Buffer.from('69640a31c1aacda80a32d6d0b9fac8cbc3f10a', 'hex')],
])('text in %s that has a few bytes as in UTF-8 does not mix encodings', async (_, content) => {
  expect((await failure('a.csv', content)).message).toMatch(
    /or pass its encoding, such as --encoding windows-1252$/,
  );
});
