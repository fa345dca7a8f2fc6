import { attemptsBefore } from '../attempts.ts';
import type { RowCode } from '../codes.ts';
import {
  noHistory,
  noOutcomes,
  type Outcome,
  type OutcomeCounts,
  type RowHistory,
  type RowResult,
} from '../domain.ts';
import { type CqbatchError, fatalError } from '../errors.ts';
import type { JournalView } from '../journal/journal.ts';
import type { CodeCount } from '../journal/state.ts';
import type { ManifestRow } from '../manifest/manifest.ts';

/** Why rows have no result: `pending` while the run continues by itself, otherwise how it ended. */
export type WhyUnfinished = 'pending' | 'interrupted' | 'cancelled' | 'halted';

const unfinishedCodes: Readonly<Record<WhyUnfinished, RowCode>> = {
  pending: 'PENDING',
  interrupted: 'INTERRUPTED',
  cancelled: 'CANCELLED',
  halted: 'HALTED',
};

/** A row with its result: one line of the report. */
export interface ReportLine {
  readonly row: ManifestRow;
  readonly result: RowResult;
}

export interface JoinInput {
  /** All rows of the manifest. */
  readonly rows: AsyncIterable<readonly ManifestRow[]>;
  readonly journal: JournalView;
  readonly unfinished: WhyUnfinished;
  /** Name of a row's operation, empty when the row names no known one. Called for rows without a result. */
  readonly operationOf: (row: ManifestRow) => string;
}

/**
 * Joins the rows of the manifest, in their order, with the results in the journal.
 *
 * @throws a fatal error `REPORT_INCOMPLETE` when the manifest lacks or repeats rows, or when the journal has results of rows
 *   that the manifest lacks.
 */
export async function* joinResults(input: JoinInput): AsyncGenerator<readonly ReportLine[]> {
  const { rows: chunks, journal } = input;
  let last = 0;
  for await (const rows of chunks) {
    const results = await resultsByRow(journal, last + 1, last + rows.length);
    const lines: ReportLine[] = [];
    for (const row of rows) {
      last++;
      if (row.row !== last) throw incompleteReport(`row ${last} of the manifest is numbered ${row.row}`);
      lines.push({ row, result: results.get(last) ?? withoutResult(row, input) });
    }
    yield lines;
  }
  if (journal.lastRow > last) {
    throw incompleteReport(
      `the journal has a result for row ${journal.lastRow}, but the manifest ends with row ${last}`,
    );
  }
}

async function resultsByRow(
  journal: JournalView,
  first: number,
  last: number,
): Promise<Map<number, RowResult>> {
  const results = new Map<number, RowResult>();
  for await (const part of journal.results(first, last)) {
    for (const result of part) results.set(result.row, result);
  }
  return results;
}

function withoutResult(row: ManifestRow, { journal, unfinished, operationOf }: JoinInput): RowResult {
  return unfinishedResult(unfinished, {
    row: row.row,
    operation: operationOf(row),
    history: journal.history(row.row),
    unsettled: journal.isUnsettled(row.row),
  });
}

/** The error when manifest and journal don't match. */
export function incompleteReport(problem: string): CqbatchError {
  return fatalError(
    'REPORT_INCOMPLETE',
    `The report would be incomplete: ${problem}. The run's copy of its manifest has changed since the run started. ` +
      'Restore the original file (its SHA-256 is in run.json). Then type "cqbatch report RUN" with the id of the run.',
  );
}

/** Whether a result is a placeholder for a row without a result. */
export function isUnfinished({ code, finishedAt }: RowResult): boolean {
  return finishedAt === undefined && Object.values<string>(unfinishedCodes).includes(code);
}

/** Whether the run will still call the row, or the journal does not know whether it has. */
export function isPending({ code, finishedAt }: RowResult): boolean {
  return finishedAt === undefined && code === unfinishedCodes.pending;
}

/** A row without a result, as the journal knows it. */
export interface UnfinishedRow {
  readonly row: number;
  /** Empty when the row names no known operation. */
  readonly operation: string;
  readonly history: RowHistory | undefined;
  /** Whether the datastore may hold the row, and what became of it. */
  readonly unsettled: boolean;
}

/**
 * The result in the report for a row without one. A row that was certainly not processed is `not_attempted`. A row with an
 * attempt that the API did more than postpone is `failed`, unless the run will still call it. A row that may have been
 * processed is unclear, so that it is not fed back unchecked. Of a row that the datastore holds, the journal can't say whether
 * it was called: it is pending, whatever ended the run.
 */
export function unfinishedResult(why: WhyUnfinished, row: UnfinishedRow): RowResult {
  const { history = noHistory } = row;
  const { attempts, unprocessed, unclear, startedAt, lastStatus } = history;
  const unfinished = row.unsettled ? 'pending' : why;
  const attempted = unclear || attempts > unprocessed;
  const earlier = attemptsBefore(history);
  return {
    row: row.row,
    operation: row.operation,
    outcome: attempted && unfinished !== 'pending' ? 'failed' : 'not_attempted',
    code: unfinishedCodes[unfinished],
    message: message(why, history, row.unsettled),
    attempts,
    unclear,
    ...(startedAt !== undefined && { startedAt }),
    ...(lastStatus !== undefined && { httpStatus: lastStatus }),
    ...(earlier.length > 0 && { earlier }),
  };
}

function message(why: WhyUnfinished, history: RowHistory, unsettled: boolean): string {
  const parts = [why === 'pending' ? 'not finished yet' : `the run was ${why}`];
  if (unsettled && why !== 'pending') parts.push('resuming it finds out whether this row was called');
  if (history.lastCode !== undefined) parts.push(`the last attempt failed with ${lastProblem(history)}`);
  if (history.unclear) parts.push('the row may have been processed');
  return parts.join('; ');
}

function lastProblem({ lastCode = '', lastMessage = '' }: RowHistory): string {
  return lastMessage === '' ? lastCode : `${lastCode}: ${lastMessage}`;
}

/** The counts of a run's rows. */
export interface ResultCounts {
  /** Rows with a result of their own. */
  readonly done: number;
  /** As in the report, with rows that were stopped before they had a result. Excludes rows that will still be called. */
  readonly outcomes: OutcomeCounts;
  readonly codes: readonly CodeCount[];
  /** Includes rows that will still be called. */
  readonly unclear: number;
  /** Rows that were called without a result and wait for their next call. */
  readonly held: number;
}

/** Counts the rows of a run from its journal, with the same result as its report. @param rows of the manifest */
export function countRows(journal: JournalView, rows: number, unfinished: WhyUnfinished): ResultCounts {
  const outcomes = { ...noOutcomes(), ...journal.outcomeCounts };
  const codes = new Map(journal.codeCounts.map((count) => [`${count.outcome} ${count.code}`, { ...count }]));
  let unclear = journal.unclearCount;
  let held = 0;
  let left = rows - journal.finishedCount;
  const add = (outcome: Outcome, code: string, count: number): void => {
    if (unfinished === 'pending' || count === 0) return;
    outcomes[outcome] += count;
    const key = `${outcome} ${code}`;
    codes.set(key, { outcome, code, count: (codes.get(key)?.count ?? 0) + count });
  };
  for (const row of journal.begunRows()) {
    const [history, unsettled] = [journal.history(row), journal.isUnsettled(row)];
    const result = unfinishedResult(unfinished, { row, operation: '', history, unsettled });
    add(result.outcome, result.code, 1);
    if (result.unclear) unclear += 1;
    if (unfinished === 'pending' && history !== undefined && !unsettled) held += 1;
    left -= 1;
  }
  const { outcome, code } = unfinishedResult(unfinished, noRowCalled);
  add(outcome, code, left);
  return { done: journal.finishedCount, outcomes, codes: [...codes.values()], unclear, held };
}

const noRowCalled = { row: 0, operation: '', history: undefined, unsettled: false };
