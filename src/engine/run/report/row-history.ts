import { usageError } from '../../../base/errors/errors.ts';
import { attemptsOf, requestsOf } from '../../../domain/attempts.ts';
import type { Attempt, RowResult } from '../../../domain/row-result.ts';
import type { SavedAnswer } from '../../../domain/terms.ts';
import { traceId } from '../../../domain/trace.ts';
import { shownRequestIfKnown } from '../../operation/shown-request.ts';
import { type JudgedRow, readCheck } from '../../report/check-file.ts';
import { unfinishedResult } from '../../report/join-results.ts';
import { decidedResult } from '../../rows/decided-result.ts';
import type { PlannedRow } from '../../rows/row.ts';
import { findRetries } from '../plan/retries.ts';
import { readAnswers } from '../record/answer-file.ts';
import { type RunRecord, runKey, unfinishedBecause } from '../record/record.ts';
import { withJournalReader } from '../record/run-journal.ts';
import { openRunRows } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';

export interface RowHistory {
  /** The run of the manifest that the user named. */
  readonly record: RunRecord;
  readonly row: PlannedRow;
  readonly columns: readonly string[];
  /** The request of the row. Undefined for a row that is not called, and if its operation is not loaded. */
  readonly request: ReturnType<typeof shownRequestIfKnown>;
  /** The run and its retries with the row, oldest first; at least one. */
  readonly runs: readonly RunOfRow[];
  /** What the last check of the run says of the row. */
  readonly check?: CheckOfRow;
}

export interface CheckOfRow extends Pick<JudgedRow, 'check' | 'there'> {
  readonly checkedAt: string;
}

export interface RunOfRow {
  readonly record: RunRecord;
  /** The place of the row in one of these runs. */
  readonly row: number;
  /** The result as the report has it, even of an unfinished row. */
  readonly result: RowResult;
  readonly traceId: string;
  readonly attempts: readonly Attempt[];
  /** Attempts of which earlier versions kept only the number. */
  readonly untold: number;
  readonly answers: readonly SavedAnswer[];
}

/**
 * @param number of the row in the named run's manifest
 * @throws a usage error `ROW_UNKNOWN`
 */
export async function rowHistory(store: RunStore, named: RunRecord, number: number): Promise<RowHistory> {
  const { firstRun, retries } = await findRetries(store, named);
  const runs: RunOfRow[] = [];
  let planned: Pick<RowHistory, 'row' | 'columns' | 'request'> | undefined;
  for (const record of [firstRun, ...retries]) {
    const { head, find } = await openRunRows(store, record);
    const row = await find(number);
    if (row === undefined) continue;
    planned ??= { row, columns: head.columns.map(({ title }) => title), request: requestOf(store, row) };
    runs.push(await runOf(store, record, row));
  }
  if (planned !== undefined) {
    const check = await checkOfRow(store.folder(firstRun.id), number);
    return { record: firstRun, ...planned, runs, ...(check !== undefined && { check }) };
  }
  throw usageError(
    'ROW_UNKNOWN',
    `Run ${firstRun.id} has no row ${number}: the column _row of its report has the numbers of its rows.`,
  );
}

async function checkOfRow(folder: string, number: number): Promise<CheckOfRow | undefined> {
  let judged: JudgedRow | undefined;
  const check = await readCheck(folder, (row) => {
    if (row.row === number) judged = row;
  });
  return check && judged && { check: judged.check, there: judged.there, checkedAt: check.checked_at };
}

function requestOf({ operations }: RunStore, row: PlannedRow): RowHistory['request'] {
  if (row.kind !== 'callable') return undefined;
  return shownRequestIfKnown(operations, { ...row, operation: row.operation.name });
}

async function runOf(store: RunStore, record: RunRecord, row: PlannedRow): Promise<RunOfRow> {
  const { place } = row;
  const answers = await readAnswers(store.folder(record.id), row.row);
  return withJournalReader(store, record, async (journal) => {
    const known = decidedResult(row) ?? (await only(journal.results(place, place)));
    const unfinished = {
      row: place,
      operation: row.operation?.name ?? '',
      history: journal.history(place),
      isUnsettled: journal.isUnsettled(place),
    };
    const result = known ?? unfinishedResult(unfinishedBecause(record), unfinished);
    const attempts = attemptsOf(result);
    const untold = Math.max(0, result.attempts - requestsOf(attempts));
    return { record, row: place, result, traceId: traceId(runKey(record), place), attempts, untold, answers };
  });
}

async function only(parts: AsyncIterable<readonly RowResult[]>): Promise<RowResult | undefined> {
  for await (const [result] of parts) if (result !== undefined) return result;
  return undefined;
}
