import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CsvFile } from '../../src/report/csv-file.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cqbatch-report-'));
  path = join(folder, 'report.csv');
});

afterEach(() => rm(folder, { recursive: true }));

async function publish(file: CsvFile): Promise<void> {
  await file.seal();
  await file.publish();
}

test('any well-formed text comes back from its cells', async () => {
  const anyCell = fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => !/\p{Cs}/u.test(text)),
    fc.string({ unit: fc.constantFrom('"', ',', ';', '\n', '\r', ' ', '\0', '\ufeff', '\u2028', 'a') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anyCell, anyCell), { minLength: 1 }), async (records) => {
      const file = new CsvFile(path, ['first', 'second']);
      await file.write(records.slice(0, 1));
      await file.write(records.slice(1));
      await publish(file);
      expect(parse(await readFile(path), { bom: true })).toEqual([['first', 'second'], ...records]);
    }),
    { numRuns: 50 },
  );
});

test('the file begins with a byte order mark and has LF line ends', async () => {
  const file = new CsvFile(path, ['name', 'text']);
  await file.write([['a', 'ä, ö']]);
  await publish(file);
  expect(await readFile(path, 'utf8')).toBe('\ufeffname,text\na,"ä, ö"\n');
});

test('an empty write makes a file with a header only, readable by its owner only', async () => {
  const file = new CsvFile(path, ['name', 'text']);
  expect(file.isBegun).toBe(false);
  await file.write([]);
  await publish(file);
  expect(file.isBegun).toBe(true);
  expect(await readFile(path, 'utf8')).toBe('\ufeffname,text\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('the earlier file stays until the new one is published, and forever if that is discarded', async () => {
  await writeFile(path, 'earlier');
  const file = new CsvFile(path, ['name']);
  await file.write([['a']]);
  await file.seal();
  expect(await readFile(path, 'utf8')).toBe('earlier');
  await file.discard();
  expect(await readFile(path, 'utf8')).toBe('earlier');
  expect(await readdir(folder)).toEqual(['report.csv']);
});

test('a file that was never written replaces the earlier one by nothing', async () => {
  await writeFile(path, 'earlier');
  await publish(new CsvFile(path, ['name']));
  await publish(new CsvFile(path, ['name']));
  expect(await readdir(folder)).toEqual([]);
});

test('a disk that refuses is a fatal error with the remedy', async () => {
  const file = new CsvFile(join(folder, 'missing', 'report.csv'), ['name']);
  await expect(file.write([])).rejects.toMatchObject({
    kind: 'fatal',
    code: 'REPORT_UNWRITABLE',
    message: expect.stringContaining('cqbatch report'),
  });
});
