import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { unguardCell } from '../../src/manifest/formula-guard.ts';

/** The records of a CSV file by column title, as other programs read them. */
export async function readRecords(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const [header = [], ...records]: string[][] = parse(await readFile(path), { bom: true });
  return records.map((record) =>
    Object.fromEntries(header.map((title, index) => [title, record[index] ?? ''])),
  );
}

/** The cells of a file as they read back into rows: without their guard, empty ones left out. */
export async function readFedBack(
  path: string,
  clearToken: string,
): Promise<readonly Record<string, unknown>[]> {
  return (await readRecords(path)).map((record) => {
    const cells = Object.entries(record)
      .filter(([title, cell]) => !title.startsWith('_') && cell !== '')
      .map(([title, cell]) => [
        unguardCell(title, { clearToken }),
        cell === clearToken ? '' : unguardCell(cell, { clearToken }),
      ]);
    return Object.fromEntries(cells);
  });
}
