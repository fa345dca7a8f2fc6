import { type Defer, withScope } from '../../../base/async/scope.ts';
import type { JournalView } from '../../journal/journal.ts';
import { isUnfinished, joinResults, type ReportLine } from '../../report/join-results.ts';
import { joinRetries, type ReportLines } from '../../report/join-retries.ts';
import { subjectDigest } from '../../rows/digest-table.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { InvalidRow, PlannedRow, UnderstoodRow } from '../../rows/row.ts';
import { type RunRecord, runKey, unfinishedBecause } from '../record/record.ts';
import { openJournalReader } from '../record/run-journal.ts';
import { openRunRows } from '../record/run-rows.ts';
import type { RunStore } from '../record/store.ts';

export interface RowsWithResults {
  /** The rows with their results. Each loop reads them again. */
  readonly lines: ReportLines;
  readonly head: RowsHead;
}

/** Reads the rows of a run with their results, even while the run is in progress. */
export async function readRowsWithResults(
  store: RunStore,
  record: RunRecord,
  journal: JournalView,
): Promise<RowsWithResults> {
  const { head, rows } = await openRunRows(store, record);
  const known = { journal, unfinished: unfinishedBecause(record), runKey: runKey(record) };
  return { lines: { [Symbol.asyncIterator]: () => joinResults({ rows: rows(), ...known }) }, head };
}

/** Reads the rows of a run that another process may work on, with their results. */
export async function openRowsWithResults(
  store: RunStore,
  record: RunRecord,
  defer: Defer,
): Promise<RowsWithResults & { readonly journal: JournalView }> {
  const journal = await openJournalReader(store, record);
  defer(() => journal.close());
  return { ...(await readRowsWithResults(store, record, journal)), journal };
}

/** Reads the rows of a run like `openRowsWithResults`; each row has its result in the latest of these retries. */
export async function openLastRowsWithResults(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
  defer: Defer,
): Promise<RowsWithResults> {
  const run = await openRowsWithResults(store, record, defer);
  const retries: ReportLines[] = [];
  for (const retry of later) retries.push((await openRowsWithResults(store, retry, defer)).lines);
  return { ...run, lines: { [Symbol.asyncIterator]: () => joinRetries(run.lines, retries) } };
}

/** A row that can be called, even if the run leaves it out. */
export interface CallLine extends ReportLine {
  readonly row: Exclude<PlannedRow, InvalidRow>;
}

export async function* callsOf(
  { lines }: Pick<RowsWithResults, 'lines'>,
  isWanted: (line: ReportLine) => boolean = () => true,
): AsyncGenerator<readonly CallLine[]> {
  for await (const part of lines) yield part.filter(isWanted).filter(isCallLine);
}

/** @param later retries of the same rows */
export function hasRowsToRetry(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[],
): Promise<boolean> {
  return withScope(async (defer) => {
    const { lines } = await openLastRowsWithResults(store, record, later, defer);
    for await (const part of lines) if (part.some(isToBeRetried)) return true;
    return false;
  });
}

/** A row without a result is called on resume, unless its run was cancelled. */
export function isToBeRetried({ result }: ReportLine): boolean {
  return isUnfinished(result) ? result.code === 'CANCELLED' : result.outcome === 'failed';
}

function isCallLine(line: ReportLine): line is CallLine {
  return line.row.kind !== 'invalid';
}

/** A key of what a row acts on, unique among the subjects of all operations. */
export function subjectKey({ operation, subject }: Pick<UnderstoodRow, 'operation' | 'subject'>): string {
  return subjectDigest({ operation: operation.name, subject });
}
