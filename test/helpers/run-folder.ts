import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';

export type Cells = Readonly<Record<string, string>>;

/** The folder of the only or newest run of a state folder in `cwd`. */
export async function newestRunFolder(cwd: string): Promise<string> {
  const runs = join(cwd, '.cqbatch', 'runs');
  const newest = (await readdir(runs)).toSorted().at(-1);
  if (newest === undefined) throw new Error(`no run in ${runs}`);
  return join(runs, newest);
}

/** A CSV file of the run's report, row by row; empty when the file does not exist. */
export async function readCsv(folder: string, name: string): Promise<readonly Cells[]> {
  const text = await readFile(join(folder, name), 'utf8').catch(() => '');
  // The delimiter is that of the manifest, and ends the first title.
  const delimiter = /[,;\t|]/.exec(text)?.[0] ?? ',';
  return parse(text, { columns: true, bom: true, delimiter }) as Cells[];
}

export async function readSummary(folder: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Record<string, unknown>;
}
