import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { onTestFinished } from 'vitest';
import { operations } from '../../jobs/index.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import { fieldNameOf, knownNames } from '../../src/manifest/columns/column-names.ts';
import { Cells, type ManifestRow } from '../../src/manifest/manifest.ts';
import { openManifest } from '../../src/manifest/open.ts';
import type { Operation } from '../../src/operation/operation.ts';
import { type JoinInput, joinResults } from '../../src/report/join-results.ts';
import type { ReportInput } from '../../src/report/write-reports.ts';
import { factsOfRun } from '../helpers/page-lines.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

export const clearToken = '<clear>';

export interface Run {
  readonly folder: string;
  readonly journal: Journal;
}

/** The folder of a run with an empty journal. The end of the test removes both. */
export async function emptyRun(): Promise<Run> {
  const folder = await temporaryFolder();
  const journal = await openJournal(join(folder, 'journal.jsonl'), { runId: 'r1' });
  onTestFinished(() => journal.close());
  return { folder, journal };
}

/** An operation that matters only for its result columns. */
const operation = { name: 'restore-evaluation', columns: ['score', 'state'] } as unknown as Operation;

/** The input of the report of a completed run. */
export function inputOf(
  { folder, journal }: Run,
  rows: readonly ManifestRow[],
  more: Partial<ReportInput & JoinInput> = {},
): ReportInput {
  const { unfinished = 'interrupted' } = more;
  const operationOf = () => 'restore-evaluation';
  return {
    folder,
    lines: joinResults({ rows: inChunks(rows, 3), journal, unfinished, operationOf, ...more }),
    columns: ['evaluation_id', 'note'],
    clearToken,
    delimiter: ',',
    defaults: new Map(),
    fieldOf: fieldNameOf,
    known: knownNames(operations),
    operations: [operation],
    run: {
      ...factsOfRun,
      run: 'r1',
      manifest: { name: 'evaluations.csv', sha256: 'ab12' },
      started_at: '2026-01-01T00:00:00.000Z',
      finished_at: '2026-01-01T00:00:04.000Z',
      activeMs: 4_000,
    },
    ...more,
  };
}

/** Rows with these cells. */
export function rowsOf(...cells: readonly Readonly<Record<string, unknown>>[]): readonly ManifestRow[] {
  return cells.map((given, index) => ({
    row: index + 1,
    line: index + 2,
    cells: Object.assign(new Cells(), given),
  }));
}

/** Rows in the chunks of a manifest. */
export async function* inChunks(
  rows: readonly ManifestRow[],
  size: number,
): AsyncGenerator<readonly ManifestRow[]> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}

/** The records of a CSV file by column name, as other programs read them. */
export async function readRecords(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  return parse(await readFile(path), { bom: true, columns: true });
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
