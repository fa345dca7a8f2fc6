import { createHash } from 'node:crypto';
import type { RowResult } from '../../../domain/terms.ts';
import { FailureCodes } from '../../journal/failed-rows.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RowsFile } from '../../rows/rows-file.ts';
import { haltText } from '../record/guards.ts';
import type { CanaryOptions, RunRecord } from '../record/record.ts';

/** Results of a canary, to decide whether the run continues. */
export interface CanaryResults {
  /** In the order of the manifest, with the numbers of the user's manifest. */
  readonly rows: readonly CanaryRow[];
  readonly failed: number;
  /** Rows still to be called after the canary. */
  readonly left: number;
}

/** Decides whether a run continues after its canary, until the signal aborts. Undefined: the options of the run decide. */
export type ConfirmAfterCanary = (canary: CanaryResults, signal: AbortSignal) => Promise<boolean | undefined>;

export interface CanaryRow {
  readonly result: RowResult;
  /** The identifier of the row's subject. */
  readonly subject: string;
}

/**
 * The rows of a run's canary: the first rows that are called, or a fair sample of all of them. They follow from the plan and
 * the key of the run, so that a resumed run has the same canary.
 */
export async function canaryRows(
  { id, key = id, options: { canary } }: RunRecord,
  file: Pick<RowsFile, 'rows'>,
): Promise<ReadonlySet<number>> {
  const rows: number[] = [];
  if (canary === undefined) return new Set();
  const random = randomOf(key);
  let callable = 0;
  for await (const part of file.rows()) {
    for (const { kind, place } of part) {
      if (kind !== 'callable') continue;
      callable += 1;
      if (rows.length < canary.rows) rows.push(place);
      else if (canary.random) {
        // Reservoir sampling: each row so far is in the sample with the same probability.
        const index = Math.floor(random() * callable);
        if (index < canary.rows) rows[index] = place;
      }
    }
    if (!canary.random && rows.length >= canary.rows) break;
  }
  return new Set(rows.toSorted((a, b) => a - b));
}

/** Numbers from 0 to 1 that depend only on the key. */
function randomOf(key: string): () => number {
  let count = 0;
  let block = Buffer.alloc(0);
  return () => {
    const at = (count * 4) % 32;
    if (at === 0) block = createHash('sha256').update(`${key} ${count}`).digest();
    count += 1;
    return block.readUInt32LE(at) / 2 ** 32;
  };
}

/** The last row of a canary, or 0 if it is empty. */
export function lastOf(canary: ReadonlySet<number>): number {
  return [...canary].at(-1) ?? 0;
}

/** Results of the canary's finished rows, with their numbers in the user's manifest. */
export async function canaryResults(
  rows: ReadonlySet<number>,
  file: Pick<RowsFile, 'rows'>,
  journal: Pick<Journal, 'results'>,
): Promise<readonly CanaryRow[]> {
  const last = lastOf(rows);
  const results = new Map<number, RowResult>();
  for await (const part of journal.results(1, last))
    for (const result of part) if (rows.has(result.row)) results.set(result.row, result);
  const shown: CanaryRow[] = [];
  for await (const part of file.rows(1, last)) {
    for (const row of part) {
      const result = results.get(row.place);
      if (result === undefined || row.kind !== 'callable') continue;
      shown.push({ result: { ...result, row: row.row }, subject: row.subject });
    }
  }
  return shown;
}

/** Why a run stops after its canary if the user was not asked; undefined if it continues. */
export function canaryFailure(
  { rows, failed }: CanaryResults,
  { maxFailures }: CanaryOptions,
  runId: string,
): string | undefined {
  if (failed <= maxFailures) return undefined;
  const codes = new FailureCodes();
  for (const { result } of rows) if (result.outcome === 'failed') codes.add(result);
  const what = `${failed} of the ${rows.length} rows of the canary failed; canary_max_failures allows ${maxFailures}`;
  return haltText({ what, most: codes.most }, runId, (row) => row);
}
