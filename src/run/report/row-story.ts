import { unknownAttempt } from '../../attempts.ts';
import type { Attempt, RowHistory, RowResult, SavedAnswer } from '../../domain.ts';
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

/** All that is known of a row of a manifest. */
export interface RowStory {
  /** The run of the manifest that the user gave. */
  readonly record: RunRecord;
  readonly row: ManifestRow;
  /** What is called for it, or why nothing is. */
  readonly prepared: PreparedRow;
  /** What became of it in that run and in its retries, the oldest first; at least one. */
  readonly runs: readonly RunOfRow[];
}

/** What became of a row in one run. */
export interface RunOfRow {
  readonly record: RunRecord;
  /** Its number in the manifest of that run. */
  readonly row: number;
  /** Also of a row that is not finished: what the report would say. */
  readonly result: RowResult;
  /** In order, as far as they are known. */
  readonly attempts: readonly Attempt[];
  /** Attempts that were made and are not written down: by versions that kept only their number. */
  readonly untold: number;
  /** The answers to them, if the run has kept them. */
  readonly answers: readonly SavedAnswer[];
}

/**
 * Tells what became of a row, in a run and in the retries of the same rows.
 *
 * @param number of the row in the manifest that the user gave, as reports have it
 * @throws a usage error `ROW_UNKNOWN` when there is no such row.
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

/** What a run calls the row; undefined when the run does not have it. */
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
    const history = journal.history(row);
    const finished = await only(journal.results(row, row));
    const unfinished = { row, operation, history, unsettled: journal.isUnsettled(row) };
    const result = finished ?? unfinishedResult(unfinishedBecause(record), unfinished);
    const attempts = finished === undefined ? attemptsBefore(history) : attemptsOf(finished);
    const known = attempts.reduce((sum, { requests = 1, omitted = 0 }) => sum + requests + omitted, 0);
    return { record, row, result, attempts, untold: Math.max(0, result.attempts - known), answers };
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

function attemptsBefore(history: RowHistory | undefined): readonly Attempt[] {
  return history?.earlier ?? (history?.unclear && history.attempts > 0 ? [unknownAttempt] : []);
}

/** The attempts before the last one, and the last one, which the result itself tells of. */
function attemptsOf(result: RowResult): readonly Attempt[] {
  const { earlier = [], attempts, startedAt, finishedAt, durationMs, code, message, httpStatus } = result;
  if (attempts === 0 || finishedAt === undefined) return earlier;
  const computed = new Date(Date.parse(finishedAt) - (durationMs ?? 0)).toISOString();
  const start = attempts === 1 ? (startedAt ?? computed) : computed;
  return [
    ...earlier,
    {
      at: start,
      ...(durationMs !== undefined && { durationMs }),
      code,
      ...(message !== '' && { message }),
      ...(httpStatus !== undefined && { httpStatus }),
    },
  ];
}
