import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DigestTable, digest } from '../../../src/engine/rows/digest-table.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** A table with two numbers in each entry. */
async function tableWith(pagesInMemory?: number) {
  const folder = await temporaryFolder();
  const table = new DigestTable(2, pagesInMemory === undefined ? undefined : { folder, pagesInMemory });
  onTestFinished(() => table.close());
  const put = (key: string, value: number): void => {
    const known = table.find(key);
    table.setLarge(known < 0 ? table.enter(key) : known, 0, value);
  };
  const storedIn = (key: string): number | undefined => {
    const entry = table.find(key);
    return entry < 0 ? undefined : table.getLarge(entry, 0);
  };
  return { folder, table, put, storedIn };
}

const puts = fc.array(fc.tuple(fc.nat(2_000), fc.nat(Number.MAX_SAFE_INTEGER)), {
  minLength: 1_000,
  maxLength: 3_000,
});

describe.each([[undefined], [1], [3]])('a table with %s pages in memory', (pagesInMemory) => {
  test('agrees with a map', async () => {
    await fc.assert(
      fc.asyncProperty(puts, async (all) => {
        const { put, storedIn } = await tableWith(pagesInMemory);
        const map = new Map<string, number>();
        const wrong: unknown[] = [];
        for (const [subject, value] of all) {
          const key = digest(`${subject}`);
          if (storedIn(key) !== map.get(key)) wrong.push({ subject, value });
          put(key, value);
          map.set(key, value);
        }
        for (const [key, value] of map) if (storedIn(key) !== value) wrong.push({ key, value });
        expect(wrong).toEqual([]);
        expect(storedIn(digest('unknown'))).toBeUndefined();
      }),
      { numRuns: 10 },
    );
  });

  test('tells keys apart by their last word', async () => {
    const { put, storedIn } = await tableWith(pagesInMemory);
    const keys = Array.from({ length: 600 }, (_, at) => `00000000${String(at).padStart(4, '0')}`);
    for (const [at, key] of keys.entries()) put(key, at);
    expect(keys.map(storedIn)).toEqual([...keys.keys()]);
  });
});

test('finds all of 30,000 keys that begin with the same two bytes', async () => {
  const { put, storedIn } = await tableWith();
  const keys = Array.from({ length: 30_000 }, (_, at) => `\0\0${digest(`${at}`)}`);
  for (const [at, key] of keys.entries()) put(key, at);
  expect(keys.findIndex((key, at) => storedIn(key) !== at)).toBe(-1);
});

test('the file for what overflows has no name', async () => {
  const { folder, put } = await tableWith(1);
  for (let at = 0; at < 600; at++) put(digest(`${at}`), at);
  expect(await readdir(folder)).toEqual([]);
});

test('makes the folder when the first entry overflows', async () => {
  const folder = join(await temporaryFolder(), 'state', 'folder');
  const table = new DigestTable(0, { folder, pagesInMemory: 1 });
  for (let at = 0; at < 256; at++) table.enter(digest(`${at}`));
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
  table.enter(digest('256'));
  expect(await readdir(folder)).toEqual([]);
  table.close();
});

test('names the folder that refuses the file', async () => {
  const folder = join(await temporaryFolder(), 'state');
  await writeFile(folder, '');
  const table = new DigestTable(0, { folder, pagesInMemory: 1 });
  for (let at = 0; at < 256; at++) table.enter(digest(`${at}`));
  expect(() => table.enter(digest('256'))).toThrow(`${folder} already exists, but is something else`);
});
