import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { onTestFinished } from 'vitest';
import type { Journal } from '../../../src/engine/journal/journal.ts';
import { openJournal } from '../../../src/engine/journal/open.ts';
import { openManifest } from '../../../src/engine/manifest/open.ts';
import { type JoinInput, joinResults } from '../../../src/engine/report/join-results.ts';
import type { ReportInput } from '../../../src/engine/report/write-reports.ts';
import type { CellTexts, PlannedRow } from '../../../src/engine/rows/row.ts';
import { factsOfRun } from '../../helpers/page-lines.ts';
import { callableRow, restoreEvaluation } from '../../helpers/planned-row.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

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

/** The input of the report of a completed run. */
export function inputOf(
  { folder, journal }: Run,
  rows: readonly PlannedRow[],
  more: Partial<ReportInput & JoinInput> = {},
): ReportInput {
  const { unfinished = 'interrupted' } = more;
  return {
    folder,
    lines: joinResults({ rows: inChunks(rows, 3), journal, unfinished, runKey: 'k1', ...more }),
    columns: [{ title: 'evaluation_id', field: 'evaluation_id' }, { title: 'note' }],
    clear_token: clearToken,
    defaults: {},
    operations: [restoreEvaluation],
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

/** Rows to be called, with these cells. */
export function rowsOf(...cells: readonly CellTexts[]): readonly PlannedRow[] {
  return cells.map((texts, index) => callableRow(index + 1, texts));
}

/** Rows in the parts of a file of rows. */
export async function* inChunks(
  rows: readonly PlannedRow[],
  size: number,
): AsyncGenerator<readonly PlannedRow[]> {
  for (let start = 0; start < rows.length; start += size) yield rows.slice(start, start + size);
}

/** The records of a CSV file by column name, as other programs read them. */
export async function readRecords(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  return parse(await readFile(path), { bom: true, columns: true });
}

/** The cells of each row of a file that is fed back. Random texts may have lines that look like rows. */
export async function readFedBack(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const manifest = await openManifest(path, { trustQuotes: true });
  const cells: Readonly<Record<string, unknown>>[] = [];
  for await (const rows of manifest.rows()) {
    for (const row of rows) cells.push({ ...row.cells, ...(row.problem && { problem: row.problem }) });
  }
  return cells;
}
