import { attemptsOf } from '../../attempts.ts';
import { type Attempt, type RowResult, requestsOf, type SavedAnswer } from '../../domain.ts';
import { usageError } from '../../errors.ts';
import type { PreparedRow } from '../../manifest/columns/row-preparer.ts';
import type { ManifestRow } from '../../manifest/manifest.ts';
import { unfinishedResult } from '../../report/join-results.ts';
import { findRetries } from '../plan/retries.ts';
import { openManifestCopy } from '../plan/run-manifest.ts';
import { readAnswers } from '../record/answer-file.ts';
import { type RunRecord, unfinishedBecause } from '../record/record.ts';
import { readRowNumbers } from '../record/row-numbers.ts';
import { withJournalReader } from '../record/run-journal.ts';
import type { RunStore } from '../record/store.ts';

/** The history of a row of a manifest. */
export interface RowStory {
  /** The run of the manifest that the user named. */
  readonly record: RunRecord;
  readonly row: ManifestRow;
  /** The request for the row, or why it is not called. */
  readonly prepared: PreparedRow;
  /** The row in that run and in its retries, oldest first; at least one. */
  readonly runs: readonly RunOfRow[];
}

/** A row in one run. */
export interface RunOfRow {
  readonly record: RunRecord;
  /** Its number in this run's manifest. */
  readonly row: number;
  /** What the report says, even of an unfinished row. */
  readonly result: RowResult;
  /** Attempts in order, where recorded. */
  readonly attempts: readonly Attempt[];
  /** Attempts without a record: earlier versions kept only their number. */
  readonly untold: number;
  /** The answers to the attempts, if the run saved them. */
  readonly answers: readonly SavedAnswer[];
}

/**
 * Finds what happened to a row, in a run and in its retries.
 *
 * @param number of the row in the named run's manifest
 * @throws a usage error `ROW_UNKNOWN` when the row does not exist
 */
export async function tellRow(store: RunStore, named: RunRecord, number: number): Promise<RowStory> {
  const { first, retries } = await findRetries(store, named);
  const runs: RunOfRow[] = [];
  let told: Pick<RowStory, 'row' | 'prepared'> | undefined;
  for (const record of [first, ...retries]) {
    const own = await ownNumber(store, record, number);
    if (own === undefined) continue;
    const { row, prepared } = await readRow(store, record, own);
    told ??= { row: { ...row, row: number }, prepared };
    runs.push(await runOf(store, record, own, number, prepared.operation?.name ?? ''));
  }
  if (told !== undefined) return { record: first, ...told, runs };
  throw usageError(
    'ROW_UNKNOWN',
    `Run ${first.id} has no row ${number}: its rows are 1 to ${first.plan.rows}, as in column _row of the report.`,
  );
}

/** The row's number in a run; undefined when the run does not contain the row. */
async function ownNumber(store: RunStore, record: RunRecord, number: number): Promise<number | undefined> {
  const { rows } = record.plan;
  const numberOf = await readRowNumbers(store.folder(record.id), record);
  for (let own = 1; own <= rows; own += 1) if (numberOf(own) === number) return own;
  return undefined;
}

async function runOf(
  store: RunStore,
  record: RunRecord,
  row: number,
  given: number,
  operation: string,
): Promise<RunOfRow> {
  const answers = await readAnswers(store.folder(record.id), given);
  return withJournalReader(store, record, async (journal) => {
    const finished = await only(journal.results(row, row));
    const unfinished = {
      row,
      operation,
      history: journal.history(row),
      unsettled: journal.isUnsettled(row),
    };
    const result = finished ?? unfinishedResult(unfinishedBecause(record), unfinished);
    const attempts = attemptsOf(result);
    const untold = Math.max(0, result.attempts - requestsOf(attempts));
    return { record, row, result, attempts, untold, answers };
  });
}

async function readRow(
  store: RunStore,
  record: RunRecord,
  number: number,
): Promise<Pick<RowStory, 'row' | 'prepared'>> {
  const { manifest, prepare } = await openManifestCopy(store, record);
  for await (const chunk of manifest.rows()) {
    const row = chunk.find((one) => one.row === number);
    if (row !== undefined) return { row, prepared: prepare(row) };
  }
  throw usageError('ROW_UNKNOWN', `The manifest of run ${record.id} no longer has a row ${number}.`);
}

async function only(parts: AsyncIterable<readonly RowResult[]>): Promise<RowResult | undefined> {
  for await (const [result] of parts) if (result !== undefined) return result;
  return undefined;
}
