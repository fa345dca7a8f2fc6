import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { openManifest } from '../../src/manifest/open.ts';

/** The records of a CSV file by column title, as other programs read them. */
export async function readRecords(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  const [header = [], ...records]: string[][] = parse(await readFile(path), { bom: true });
  return records.map((record) =>
    Object.fromEntries(header.map((title, index) => [title, record[index] ?? ''])),
  );
}

/** The cells of each row of a file that is fed back. */
export async function readFedBack(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const manifest = await openManifest(path);
  const cells: Readonly<Record<string, unknown>>[] = [];
  for await (const rows of manifest.rows()) {
    for (const row of rows) cells.push({ ...row.cells, ...(row.problem && { problem: row.problem }) });
  }
  return cells;
}
