import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { delimiters } from '../../../src/base/text/delimiter.ts';
import { CsvFile } from '../../../src/engine/report/csv-file.ts';
import { csvText } from '../../../src/engine/report/csv-text.ts';
import { anyCharacter } from '../../any-character.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, 'report.csv');
});

const anyCell = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom(...`",;\n\r \t\0\ufeff\u2028'=a`) }),
);

/** Records of two cells or more: one empty cell would be an empty line. */
const anyRecords = fc.array(fc.array(anyCell, { minLength: 2, maxLength: 5 }), { maxLength: 5 });

test('other programs read back any text', () => {
  fc.assert(
    fc.property(anyRecords, fc.constantFrom(...delimiters), (records, delimiter) => {
      const read = { delimiter, relaxColumnCount: true, recordDelimiter: '\n' };
      expect(parse(csvText(records, delimiter), read)).toEqual(records);
    }),
    { numRuns: 300 },
  );
});

test('the text equals that of csv-stringify', () => {
  fc.assert(
    fc.property(anyRecords, (records) => {
      expect(csvText(records)).toBe(stringify(records));
    }),
    { numRuns: 300 },
  );
});

async function publish(file: CsvFile): Promise<void> {
  await file.seal();
  await file.publish();
}

test('the file begins with a byte order mark and has LF line ends', async () => {
  const file = new CsvFile(path, ['name', 'text']);
  await file.write([['a', 'ä, ö']]);
  await publish(file);
  expect(await readFile(path, 'utf8')).toBe('\ufeffname,text\na,"ä, ö"\n');
});

test('an empty write makes a file with only a header, readable by its owner only', async () => {
  const file = new CsvFile(path, ['name', 'text']);
  expect(file.isCreated).toBe(false);
  await file.write([]);
  await publish(file);
  expect(file.isCreated).toBe(true);
  expect(await readFile(path, 'utf8')).toBe('\ufeffname,text\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('the earlier file stays until the new file is published, and permanently if the new file is discarded', async () => {
  await writeFile(path, 'earlier');
  const file = new CsvFile(path, ['name']);
  await file.write([['a']]);
  await file.seal();
  expect(await readFile(path, 'utf8')).toBe('earlier');
  await file.discard();
  expect(await readFile(path, 'utf8')).toBe('earlier');
  expect(await readdir(folder)).toEqual(['report.csv']);
});

test('publishing an unwritten file removes the earlier file', async () => {
  await writeFile(path, 'earlier');
  await publish(new CsvFile(path, ['name']));
  await publish(new CsvFile(path, ['name']));
  expect(await readdir(folder)).toEqual([]);
});

test('a failed write is a fatal error with the remedy', async () => {
  const file = new CsvFile(join(folder, 'missing', 'report.csv'), ['name']);
  const message = expect.stringContaining('cqbatch report');
  await expect(file.write([])).rejects.toMatchObject({ kind: 'fatal', code: 'REPORT_UNWRITABLE', message });
});
