import { join } from 'node:path';
import { z } from 'zod';
import { ifThere, replaceFile } from '../../base/disk/files.ts';
import { openFile } from '../../base/disk/open-file.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import type { Delimiter } from '../../base/text/delimiter.ts';
import { guardFor } from '../../base/text/formula-guard.ts';
import { lineReader, rowNumberSchema } from '../../base/text/json-line.ts';
import { checkVerdicts, type Outcome } from '../../domain/terms.ts';
import { CsvFile } from './csv-file.ts';
import { flagCell } from './report-columns.ts';

/** The files of the last check of a run: for people, and for this program. */
const checkCsv = 'check.csv';
const checkLines = 'check.jsonl';

const countSchema = z.number().int().min(0);

const judgedRowSchema = z.object({
  row: rowNumberSchema,
  check: z.enum(checkVerdicts),
  /** What the service shows instead of what the row wanted, in a few words; empty for a row that is as wanted. */
  there: z.string(),
  /** Whether the row failed, and may have been processed. */
  open: z.literal(true).exactOptional(),
});

/** A row that was called, or may have been. */
export type JudgedRow = Readonly<z.infer<typeof judgedRowSchema>>;

const runCheckSchema = z.object({
  check_version: z.literal(1),
  /** When the first list was read for the check, ISO 8601 UTC. */
  checked_at: z.string(),
  /** The ids of the checked run and of its retries. */
  runs: z.array(z.string()),
  counts: z.record(z.enum(checkVerdicts), countSchema),
  /** How many rows are not as wanted although they succeeded. */
  succeeded_not_as_wanted: countSchema,
  /** The number of rows that failed and may have been processed, and how many of these were done, not done, or have no result. */
  unclear: z.object({ rows: countSchema, done: countSchema, not_done: countSchema, unfinished: countSchema }),
  /** The first rows that are not as wanted, or whose entry is gone. */
  first: z.array(
    z.object({
      row: rowNumberSchema,
      entry: z.string(),
      check: z.enum(checkVerdicts),
      there: z.string(),
    }),
  ),
});

/** A check as a whole. */
export type RunCheck = Readonly<z.infer<typeof runCheckSchema>>;

export interface CheckedRow extends JudgedRow {
  readonly operation: string;
  readonly subject: string;
  readonly outcome: Outcome;
  readonly unclear: boolean;
  /** Whether the row has no result, so that a resume calls it. */
  readonly isUnfinished: boolean;
}

const header = ['_row', '_operation', '_identifier', '_outcome', '_unclear', '_check', '_there'];

export interface CheckEnd {
  readonly delimiter: Delimiter;
  /** Called after the last row, for the check as a whole. */
  readonly end: () => RunCheck;
}

/**
 * Replaces the files of the last check, which stay when reading the rows fails.
 *
 * @returns the path of check.csv, with what `end` gave
 */
export async function writeCheck(
  folder: string,
  rows: AsyncIterable<readonly CheckedRow[]>,
  { delimiter, end }: CheckEnd,
): Promise<{ readonly path: string; readonly check: RunCheck }> {
  const path = join(folder, checkCsv);
  const linesPath = join(folder, checkLines);
  const csv = new CsvFile(path, header, delimiter);
  const guard = guardFor(delimiter);
  let check: RunCheck | undefined;
  const lines = async function* (): AsyncGenerator<string> {
    await csv.write([]);
    for await (const part of rows) {
      await csv.write(
        part.map(({ row, operation, subject, outcome, unclear, check, there }) => [
          ...[String(row), guard(operation), guard(subject), outcome],
          ...[flagCell(unclear), check, guard(there)],
        ]),
      );
      yield part.map(({ row, check, there, open }) => lineOf({ row, check, there, open })).join('');
    }
    await csv.seal();
    check = end();
    yield lineOf(check);
  };
  try {
    await onDisk(linesPath, () => replaceFile(linesPath, lines()));
    await csv.publish();
  } catch (error) {
    await csv.discard().catch(() => {});
    throw error;
  }
  return { path, check: check ?? end() };
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

/** The most bytes of the last line of a check, which names only the first odd rows. */
const mostEndBytes = 64 * 1024;

/** Reads the last check as a whole, without its rows. Undefined without a check; a check that can't be read counts as none. */
export async function readCheckEnd(folder: string): Promise<RunCheck | undefined> {
  const file = await ifThere(openFile(join(folder, checkLines)));
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.min(size, mostEndBytes));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return lineReader(runCheckSchema)(bytes.toString().trimEnd().split('\n').at(-1) ?? '');
  } finally {
    await file.close();
  }
}

/**
 * Reads the files of the last check.
 *
 * @param onRow gets the rows in their order
 * @returns undefined without a check; a check that can't be read counts as none
 */
export async function readCheck(
  folder: string,
  onRow?: (row: JudgedRow) => void,
): Promise<RunCheck | undefined> {
  const file = await ifThere(openFile(join(folder, checkLines)));
  if (file === undefined) return undefined;
  const rowIn = lineReader(judgedRowSchema);
  let last = '';
  for await (const line of file.readLines()) {
    const row = onRow && last !== '' ? rowIn(last) : undefined;
    if (row !== undefined) onRow?.(row);
    last = line;
  }
  return lineReader(runCheckSchema)(last);
}
