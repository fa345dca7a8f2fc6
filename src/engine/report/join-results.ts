import { attemptsBefore, noHistory } from '../../domain/attempts.ts';
import type { RowCode } from '../../domain/codes.ts';
import type { AttemptHistory, RowResult } from '../../domain/row-result.ts';
import { addedUp, noOutcomes, type Outcome, type OutcomeCounts, totalOf } from '../../domain/terms.ts';
import { traceId } from '../../domain/trace.ts';
import type { JournalView } from '../journal/journal.ts';
import type { CodeCount } from '../journal/state.ts';
import { decidedCounts, decidedResult } from '../rows/decided-result.ts';
import type { PlannedRow } from '../rows/row.ts';
import type { RowCounts } from '../rows/row-counts.ts';

/** Why a row has no result: `pending` while the run continues by itself, otherwise how the run ended. */
export type WhyUnfinished = 'pending' | 'interrupted' | 'cancelled' | 'halted' | 'gave up';

const unfinishedCodes: Readonly<Record<WhyUnfinished, RowCode>> = {
  pending: 'PENDING',
  interrupted: 'INTERRUPTED',
  cancelled: 'CANCELLED',
  halted: 'HALTED',
  'gave up': 'HALTED',
};

const whyInWords: Readonly<Record<WhyUnfinished, string>> = {
  pending: 'not finished yet',
  interrupted: 'the run was interrupted',
  cancelled: 'the run was cancelled',
  halted: 'the run was halted',
  'gave up': 'the run gave up',
};

/**
 * Whether resuming a stopped run calls the failed rows with this code again, because they have no result yet. `CANCELLED` may be the
 * result that the API gave, and a run that was cancelled is never resumed.
 */
export function isResumed(code: string): boolean {
  const { cancelled: _, ...resumed } = unfinishedCodes;
  return Object.values<string>(resumed).includes(code);
}

export interface ReportLine {
  readonly row: PlannedRow;
  /** The result of the row. Its member `row` is the number in the user's manifest, unlike in the journal. */
  readonly result: RowResult;
}

export interface JoinInput {
  readonly rows: AsyncIterable<readonly PlannedRow[]>;
  readonly journal: JournalView;
  readonly unfinished: WhyUnfinished;
  readonly runKey: string;
}

/** Joins rows with results, from the plan or the journal. */
export async function* joinResults({
  rows: chunks,
  journal,
  unfinished,
  runKey,
}: JoinInput): AsyncGenerator<readonly ReportLine[]> {
  for await (const rows of chunks) {
    const results = await resultsByPlace(journal, rows[0]?.place ?? 1, rows.at(-1)?.place ?? 0);
    yield rows.map((row) => {
      const { row: number, place } = row;
      const result = decidedResult(row) ?? results.get(place) ?? journalResult(journal, unfinished, row);
      return { row, result: { ...withRequestId(result, runKey, place), row: number } };
    });
  }
}

/** Adds an id of the request: the API's name for the last request, or else the trace id. */
function withRequestId(result: RowResult, runKey: string, place: number): RowResult {
  if (result.attempts === 0 || result.requestId !== undefined) return result;
  return { requestId: traceId(runKey, place), ...result };
}

function journalResult(journal: JournalView, unfinished: WhyUnfinished, row: PlannedRow): RowResult {
  return unfinishedResult(unfinished, {
    row: row.place,
    operation: row.operation?.name ?? '',
    history: journal.history(row.place),
    isUnsettled: journal.isUnsettled(row.place),
  });
}

async function resultsByPlace(
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

/** Whether a result is only a placeholder for a row that has none. */
export function isUnfinished({ code, finishedAt }: RowResult): boolean {
  return finishedAt === undefined && Object.values<string>(unfinishedCodes).includes(code);
}

export interface RowWithoutResult {
  readonly row: number;
  readonly operation: string;
  readonly history: AttemptHistory | undefined;
  /** Whether the datastore may still hold the row, or a result that the journal lacks. */
  readonly isUnsettled: boolean;
}

/**
 * The placeholder for the result of a row that has none. A row that was certainly not processed is `not_attempted`. A row with an attempt
 * that the API did more than postpone is `failed`, unless the run will still call it: then it is `pending`. A row that may have been
 * processed is unclear: it is not fed back unchecked. A row that the datastore holds is pending even after a stop: the journal can't say
 * whether it was called.
 */
export function unfinishedResult(why: WhyUnfinished, row: RowWithoutResult): RowResult {
  const { history = noHistory } = row;
  const { attempts, unprocessed, unclear, startedAt, lastStatus } = history;
  const unfinished = row.isUnsettled ? 'pending' : why;
  const attempted = unclear || attempts > unprocessed;
  const earlier = attemptsBefore(history);
  return {
    row: row.row,
    operation: row.operation,
    outcome: unfinished === 'pending' ? 'pending' : attempted ? 'failed' : 'not_attempted',
    code: unfinishedCodes[unfinished],
    message: message(why, history, row.isUnsettled),
    attempts,
    unclear,
    ...(startedAt !== undefined && { startedAt }),
    ...(lastStatus !== undefined && { httpStatus: lastStatus }),
    ...(earlier.length > 0 && { earlier }),
  };
}

function message(why: WhyUnfinished, history: AttemptHistory, unsettled: boolean): string {
  const parts = [whyInWords[why]];
  if (unsettled && why !== 'pending') parts.push('resuming it finds out whether this row was called');
  if (history.lastCode !== undefined) parts.push(`the last attempt failed with ${lastProblem(history)}`);
  if (history.unclear) parts.push('the row may have been processed');
  return parts.join('; ');
}

function lastProblem({ lastCode = '', lastMessage = '' }: AttemptHistory): string {
  return lastMessage === '' ? lastCode : `${lastCode}: ${lastMessage}`;
}

export interface ResultCounts {
  readonly done: number;
  /** The outcomes as in the report: including rows that were stopped without a result, excluding rows that will still be called. */
  readonly outcomes: OutcomeCounts;
  readonly codes: readonly CodeCount[];
  /** The number of unclear rows, including rows that will still be called. */
  readonly unclear: number;
  /** The number of called rows that wait for their next call. */
  readonly waitingRows: number;
}

export function countRows(
  journal: JournalView,
  plan: Omit<RowCounts, 'conflicts' | 'partial'>,
  unfinished: WhyUnfinished,
): ResultCounts {
  const decided = decidedCounts(plan);
  const outcomes = { ...noOutcomes(), ...addedUp(decided.outcomes, journal.outcomeCounts) };
  const counted = [...decided.codes, ...journal.codeCounts];
  const codes = new Map<string, CodeCount>(
    counted.map((count) => [`${count.outcome} ${count.code}`, { ...count }]),
  );
  let unclear = journal.unclearCount;
  let waitingRows = 0;
  let uncalled = plan.callable - journal.finishedCount;
  const add = (outcome: Outcome, code: string, count: number, isUnclear = false): void => {
    if (unfinished === 'pending' || count === 0) return;
    outcomes[outcome] += count;
    const key = `${outcome} ${code}`;
    const known = codes.get(key);
    codes.set(key, {
      outcome,
      code,
      count: (known?.count ?? 0) + count,
      unclear: (known?.unclear ?? 0) + (isUnclear ? count : 0),
    });
  };
  for (const row of journal.begunRows()) {
    const [history, isUnsettled] = [journal.history(row), journal.isUnsettled(row)];
    const result = unfinishedResult(unfinished, { row, operation: '', history, isUnsettled });
    add(result.outcome, result.code, 1, result.unclear);
    if (result.unclear) unclear += 1;
    if (unfinished === 'pending' && history !== undefined && !isUnsettled) waitingRows += 1;
    uncalled -= 1;
  }
  const { outcome, code } = unfinishedResult(unfinished, noRowCalled);
  add(outcome, code, uncalled);
  const done = totalOf(decided.outcomes) + journal.finishedCount;
  return { done, outcomes, codes: [...codes.values()], unclear, waitingRows };
}

const noRowCalled = { row: 0, operation: '', history: undefined, isUnsettled: false };
