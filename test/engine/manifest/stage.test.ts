import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { hashFile } from '../../../src/base/disk/hash-file.ts';
import { stageManifest } from '../../../src/engine/manifest/stage.ts';
import { sheetOf } from '../../fixtures/workbooks/dialects.ts';
import { zipped } from '../../fixtures/workbooks/zip.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { manifestFile } from './reading.ts';

const csv = Buffer.from('a,b\n1,2\n');
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test.each<[name: string, content: Buffer, copy: string]>([
  ['rows.csv', csv, 'manifest.csv'],
  ['rows.txt', Buffer.from('a\tb\n1\t2\n'), 'manifest.tsv'],
  ['rows.json', Buffer.from('{"a":1}\n{"a":2}'), 'manifest.jsonl'],
  ['rows', gzipSync(csv), 'manifest.csv.gz'],
  ['rows.csv', zipped(sheetOf('')), 'manifest.xlsx'],
])('%s is copied byte for byte, for its owner only, and named by its format (%#)', async (...given) => {
  const [name, content, copy] = given;
  const path = await manifestFile(name, content);
  const folder = await temporaryFolder();
  const staged = await stageManifest(path, folder);
  const digest = { sha256: sha256(content), bytes: content.length };
  expect(staged).toEqual({ path: join(folder, copy), name: path, ...digest });
  expect(await readFile(staged.path)).toEqual(content);
  expect((await stat(staged.path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual([copy]);
  expect(await hashFile(staged.path)).toEqual(digest);
});

test('standard input is copied whole', async () => {
  const folder = await temporaryFolder();
  const content = Buffer.from(`a,b\n${'1,é\n'.repeat(100_000)}`);
  const stdin = Readable.from([content.subarray(0, 100_001), content.subarray(100_001)]);
  const path = join(folder, 'manifest.csv');
  const staged = { path, name: '<stdin>', sha256: sha256(content), bytes: content.length };
  expect(await stageManifest('-', folder, { stdin })).toEqual(staged);
  expect((await readFile(path)).equals(content)).toBe(true);
});

test('a file that is not a manifest is refused, and nothing stays behind', async () => {
  const folder = await temporaryFolder();
  const pdf = await manifestFile('a.csv', Buffer.from('%PDF-1.7'));
  await expect(stageManifest(pdf, folder)).rejects.toMatchObject({
    code: 'MANIFEST_BINARY',
    message: `${pdf}: this is a PDF: export the data as CSV UTF-8`,
  });
  await expect(stageManifest('-', folder, { stdin: Readable.from([]) })).rejects.toMatchObject({
    code: 'MANIFEST_EMPTY',
    message: '<stdin>: the file is empty; it must have a header line and rows',
  });
  await expect(stageManifest(folder, folder)).rejects.toMatchObject({ code: 'MANIFEST_NOT_A_FILE' });
  expect(await readdir(folder)).toEqual([]);
});

test('a missing file is an error of the call, however busy the disk, and never an uncaught one', async () => {
  const folder = await temporaryFolder();
  const missing = join(folder, 'nothing.csv');
  const folders = Array.from({ length: 300 }, (_, index) => join(folder, String(index)));
  await Promise.all(folders.map((own) => mkdir(own)));
  const stagings = folders.map((own) => stageManifest(missing, own));
  for (const { reason } of (await Promise.allSettled(stagings)) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ kind: 'usage', code: 'MANIFEST_NOT_FOUND' });
  }
});
