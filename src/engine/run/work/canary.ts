import { createHash } from 'node:crypto';
import type { RowResult } from '../../../domain/row-result.ts';
import { FailureTally } from '../../journal/failed-rows.ts';
import type { UnderstoodRow } from '../../rows/row.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import type { CanaryCount } from '../record/guards/guard.ts';
import type { OpenRun } from '../record/open-run.ts';
import { type RunRecord, runKey } from '../record/record.ts';
import { unfinishedRows } from '../record/run-journal.ts';

export interface CanaryResults {
  /** The rows of the canary with their numbers, in the order of the user's manifest. */
  readonly rows: readonly CanaryRow[];
  readonly failedRows: number;
  /** Knows rows by their places. */
  readonly failures: CanaryCount['failures'];
  readonly rowsLeft: number;
}

/** Decides whether a run continues. Undefined: the options of the run decide. */
export type ConfirmAfterCanary = (canary: CanaryResults, signal: AbortSignal) => Promise<boolean | undefined>;

export interface CanaryRow extends Pick<UnderstoodRow, 'subject'> {
  readonly result: RowResult;
}

/**
 * The first rows that are called, or a fair sample of all. A resumed run has the same canary, as it follows from the plan and the key of
 * the run.
 */
export async function canaryRows(
  record: RunRecord,
  file: Pick<RowsFile, 'rows'>,
): Promise<ReadonlySet<number>> {
  const { canary } = record.options;
  if (canary === undefined) return new Set();
  const places: number[] = [];
  const random = randomNumbersOf(runKey(record));
  let callable = 0;
  for await (const part of file.rows()) {
    for (const { kind, place } of part) {
      if (kind !== 'callable') continue;
      callable += 1;
      if (places.length < canary.rows) places.push(place);
      else if (canary.random) {
        // Reservoir sampling: each row so far is in the sample with the same probability.
        const index = Math.floor(random() * callable);
        if (index < canary.rows) places[index] = place;
      }
    }
    if (!canary.random && places.length >= canary.rows) break;
  }
  return new Set(places.toSorted((a, b) => a - b));
}

/** Makes random numbers from 0 to 1, which depend only on the key. */
function randomNumbersOf(key: string): () => number {
  let count = 0;
  let block = Buffer.alloc(0);
  return () => {
    const at = (count * 4) % 32;
    if (at === 0) block = createHash('sha256').update(`${key} ${count}`).digest();
    count += 1;
    return block.readUInt32LE(at) / 2 ** 32;
  };
}

/** The last place of the canary; 0 if the canary is empty. */
export function lastPlaceOf(canary: ReadonlySet<number>): number {
  return [...canary].at(-1) ?? 0;
}

export async function canaryResults(
  { record, journal }: Pick<OpenRun, 'record' | 'journal'>,
  file: Pick<RowsFile, 'rows'>,
  canary: ReadonlySet<number>,
): Promise<CanaryResults> {
  const last = lastPlaceOf(canary);
  const results = new Map<number, RowResult>();
  for await (const part of journal.results(1, last))
    for (const result of part) if (canary.has(result.row)) results.set(result.row, result);
  const rows: CanaryRow[] = [];
  for await (const part of file.rows(1, last)) {
    for (const row of part) {
      const result = results.get(row.place);
      if (result === undefined || row.kind !== 'callable') continue;
      rows.push({ result: { ...result, row: row.row }, subject: row.subject });
    }
  }
  const failedRows = rows.filter(({ result }) => result.outcome === 'failed').length;
  const failures = new FailureTally();
  for (const result of results.values()) failures.add(result);
  return { rows, failedRows, failures, rowsLeft: unfinishedRows(record, journal) };
}
