import { appendFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashFile } from '../../../src/base/disk/hash-file.ts';
import { rowsInBlock } from '../../../src/engine/rows/head.ts';
import type { CellTexts, DecidedRow, PlannedRow } from '../../../src/engine/rows/row.ts';
import { linesIn, openRows, type PlacedLine, type RowsFile } from '../../../src/engine/rows/rows-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { callable } from './decided-rows.ts';
import { writeRows } from './written-rows.ts';

/** Rows with these numbers. The texts of some have characters of several bytes, which parts of the file may cut. */
function rowsOf(numbers: readonly number[], title: (row: number) => string = String): DecidedRow[] {
  return numbers.map((row) => {
    const values = { id: String(row), title: title(row) };
    return { ...callable, row, line: row + 1, subject: String(row), values };
  });
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

async function written(rows: readonly DecidedRow[], cells?: (row: DecidedRow) => CellTexts) {
  const path = join(await temporaryFolder(), 'rows.jsonl');
  const facts = await writeRows(path, rows, cells ? { cells } : {});
  return { path, facts, file: await openRows(path) };
}

async function read(file: Pick<RowsFile, 'rows'>, from?: number, to?: number): Promise<PlannedRow[]> {
  const rows: PlannedRow[] = [];
  for await (const part of file.rows(from, to)) rows.push(...part);
  return rows;
}

test('a line that is longer than allowed is refused before it is in memory', async () => {
  let chunks = 0;
  async function* unending() {
    yield Buffer.from('head\nrow');
    for (; ; chunks += 1) yield Buffer.alloc(1_000, 0x20);
  }
  const lines: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const part of linesIn(unending(), 10_000)) lines.push(...part);
  };
  await expect(reading()).rejects.toThrow(new RangeError('has a line of more than 10 kB'));
  expect({ lines, chunks }).toEqual({ lines: ['head'], chunks: 9 });
});

describe('a file of rows', () => {
  test('is written whole, for its owner only, and is what its digest says', async () => {
    const rows = rowsOf(upTo(2_500));
    const { path, facts, file } = await written(rows, ({ row }) => [String(row), null, '']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(path, '..'))).toEqual(['rows.jsonl']);
    expect(await hashFile(path)).toEqual(facts.digest);
    expect(file.head).toEqual(facts.head);
    expect(file.head.blocks).toHaveLength(3);
    const lines = (await readFile(path, 'utf8')).split('\n');
    expect(lines).toHaveLength(rows.length + 2);
    const bytes = Buffer.byteLength(lines.slice(1).join('\n'));
    expect(file.head.blocks.reduce((sum, block) => sum + block, 0)).toBe(bytes);
  });

  test('names the places of rows that an earlier run may have changed', async () => {
    const [first, second] = rowsOf([7, 9]) as [DecidedRow, DecidedRow];
    const { facts } = await written([first, { ...second, unclear: true } as DecidedRow]);
    expect(facts.unclear).toEqual([2]);
  });
});

describe('rows', () => {
  test('are read from any place to any place', async () => {
    const rows = rowsOf(upTo(2_500), (row) => `Ж${'é'.repeat(row % 7)}`);
    const { file } = await written(rows);
    const near = fc
      .tuple(fc.constantFrom(0, rowsInBlock, 2 * rowsInBlock, rows.length), fc.integer({ min: -3, max: 3 }))
      .map(([edge, off]) => Math.min(Math.max(edge + off, 1), rows.length));
    const place = fc.oneof(near, fc.integer({ min: 1, max: rows.length }));
    await fc.assert(
      fc.asyncProperty(place, place, async (some, other) => {
        const [from, to] = some < other ? [some, other] : [other, some];
        const found = await read(file, from, to);
        expect(found.map((row) => [row.place, row.row])).toEqual(
          upTo(to - from + 1).map((index) => [from + index - 1, from + index - 1]),
        );
        expect(found[0]).toMatchObject({ ...rows[from - 1], place: from, cells: [] });
      }),
      { numRuns: 60 },
    );
  });

  test('may be larger than what is read at once', async () => {
    const long = 'ж😀'.repeat(150_000);
    const rows = rowsOf(upTo(1_003), (row) => (row % 500 < 3 ? `${long}${row}` : 'short'));
    const { file } = await written(rows, ({ row }) => [row === 1_002 ? long : null, '\u2028']);
    const all = await read(file);
    expect(all.map(({ row }) => row)).toEqual(upTo(1_003));
    for (const place of [1, 2, 500, 501, 502, 1_000, 1_001, 1_002, 1_003]) {
      const cells = [place === 1_002 ? long : null, '\u2028'];
      expect(await read(file, place, place)).toMatchObject([{ ...rows[place - 1], place, cells }]);
    }
  });

  test('come in parts of up to 500, without those that are not wanted, and none from behind the last', async () => {
    const { file } = await written(rowsOf(upTo(2 * rowsInBlock)));
    const places: number[] = [];
    const lengths: number[] = [];
    for await (const part of file.rows(3, 1_100, (place) => place % 500 === 3))
      places.push(...part.map(({ place }) => place));
    expect(places).toEqual([3, 503, 1_003]);
    for await (const part of file.rows()) lengths.push(part.length);
    expect([Math.min(...lengths) > 0, Math.max(...lengths) <= 500]).toEqual([true, true]);
    expect(await read(file, 2 * rowsInBlock + 1)).toEqual([]);
  });
});

describe('the lines for workers', () => {
  const { requestDigest: _, ...given } = callable;
  const leftOut: DecidedRow = { ...given, kind: 'left out', row: 2, because: { why: 'duplicate', of: 1 } };

  async function placesOf(lines: AsyncIterable<readonly PlacedLine[]>): Promise<number[]> {
    const places: number[] = [];
    for await (const part of lines) places.push(...part.map(({ place }) => place));
    return places;
  }

  test('are those of callable rows up to a place, if they are wanted', async () => {
    const [first, , ...others] = rowsOf(upTo(1_200));
    const { file } = await written([first as DecidedRow, leftOut, ...others], () => ['a cell']);
    expect(await placesOf(file.callableLines())).toEqual([1, ...upTo(1_200).slice(2)]);
    expect(await placesOf(file.callableLines(4, (place) => place !== 3))).toEqual([1, 4]);
    for await (const part of file.callableLines(1))
      expect(part).toEqual([{ place: 1, op: 0, text: expect.not.stringContaining('cell') }]);
  });

  test.each<[what: string, from: string, to: string]>([
    ['is damaged', '"row":2,', '"row":0,'],
    ['has another order of members', '"row":1,"line":2', '"line":2,"row":1'],
    ['has an unknown operation', '"op":0,"request"', '"op":7,"request"'],
  ])('are refused when one %s', async (_what, from, to) => {
    const { path } = await written([...rowsOf([1]), leftOut]);
    await writeFile(path, (await readFile(path, 'utf8')).replace(from, to));
    const { callableLines } = await openRows(path);
    await expect(placesOf(callableLines())).rejects.toMatchObject({ kind: 'fatal', code: 'ROWS_DAMAGED' });
  });
});

test.each([
  ['of all rows', upTo(2_100), undefined],
  ['of some rows', upTo(2_100).map((row) => row * 3), true],
  ['in another order', upTo(2_100).map((row) => 2_101 - row), true],
  ['with gaps at the end', [...upTo(2_000), 5_000, 4_000], true],
])(
  'a row is found by its number %s, and has its number at its place',
  async (_where, numbers, renumbered) => {
    const { file } = await written(rowsOf(numbers));
    for (const index of [0, 1, 999, 1_000, numbers.length - 1]) {
      const row = numbers[index] as number;
      expect(await file.find(row)).toMatchObject({ row, place: index + 1, subject: String(row) });
    }
    for (const missing of [0, -1, 7_000, 1.5]) expect(await file.find(missing)).toBeUndefined();
    expect(file.head.renumbered).toBe(renumbered);
    expect(upTo(numbers.length).map(await file.numbers())).toEqual(numbers);
  },
);

describe('a file that is', () => {
  const whole = () => written(rowsOf(upTo(1_200)));
  const changed = (change: (text: string) => string) => async (path: string) =>
    writeFile(path, change(await readFile(path, 'utf8')));
  const replaced = (from: string, to: string) => changed((text) => text.replace(from, to));

  const restore = 'Restore it from a backup.';
  const noHead = ': its first line is not a head';

  test.each<[what: string, damage: (path: string) => Promise<unknown>, message: string]>([
    ['empty', (path) => truncate(path), `: it has no first line. ${restore}`],
    ['cut within its head', (path) => truncate(path, 100), ': it has no first line.'],
    ['not JSON', changed((text) => text.slice(1)), ': its first line is not JSON.'],
    [
      'of another version',
      replaced('"rows_version":2', '"rows_version":3'),
      ': it has version 3, which this version of cqbatch does not read: use the version that wrote it.',
    ],
    ['without a count', replaced('"callable"', '"called"'), `${noHead} (operations.0.counts`],
  ])('%s can’t be opened', async (_what, damage, message) => {
    const { path } = await whole();
    await damage(path);
    const error: Error = await openRows(path).catch((reason) => reason);
    expect(error).toMatchObject({ kind: 'fatal', code: 'ROWS_DAMAGED' });
    expect(error.message).toContain(message);
    expect(error.message).toContain(path);
    expect(error.message.includes(restore)).toBe(!message.includes('use the version'));
  });

  const lines = (change: (lines: string[]) => string[]) =>
    changed((text) => change(text.split('\n')).join('\n'));

  test.each<[what: string, damage: (path: string) => Promise<unknown>, message: string]>([
    [
      'cut between rows',
      lines((all) => [...all.slice(0, 1_101), '']),
      `: it ends after row 1100 of 1200. ${restore}`,
    ],
    ['cut within a row', changed((text) => text.slice(0, -2)), ': it ends after row 1199 of 1200.'],
    ['overwritten', replaced('"row":700', '"row":"7"'), `: line 701 is not a row. ${restore}`],
    ['empty in a line', lines((all) => all.with(9, '')), ': line 10 is not a row.'],
  ])('%s is opened, and read up to its damage', async (_what, damage, message) => {
    const { path } = await whole();
    await damage(path);
    const error: Error = await read(await openRows(path)).catch((reason) => reason);
    expect(error).toMatchObject({ kind: 'fatal', code: 'ROWS_DAMAGED' });
    expect(error.message).toContain(message);
  });

  test('read while it is cut is damaged, however far the reading was', async () => {
    const { path, file } = await whole();
    await truncate(path, 0);
    await appendFile(path, 'x');
    await expect(read(file, 1_100)).rejects.toMatchObject({ code: 'ROWS_DAMAGED' });
  });

  test('missing is reported by its path', async () => {
    const path = join(await temporaryFolder(), 'rows.jsonl');
    await expect(openRows(path)).rejects.toMatchObject({
      kind: 'fatal',
      code: 'ROWS_MISSING',
      message: `${path} is missing: restore it from a backup, then try again.`,
    });
  });
});
