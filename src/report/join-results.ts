import type { RowCode } from '../codes.ts';
import { noOutcomes, type Outcome, type OutcomeCounts, type RowHistory, type RowResult } from '../domain.ts';
import { type CqbatchError, fatalError } from '../errors.ts';
import type { JournalView } from '../journal/journal.ts';
import type { CodeCount } from '../journal/state.ts';
import type { ManifestRow } from '../manifest/manifest.ts';

/** Why rows may be without a result: the run goes on by itself, or how it ended. */
export type WhyUnfinished = 'pending' | 'interrupted' | 'cancelled' | 'halted';

const unfinishedCodes: Readonly<Record<WhyUnfinished, RowCode>> = {
  pending: 'PENDING',
  interrupted: 'INTERRUPTED',
  cancelled: 'CANCELLED',
  halted: 'HALTED',
};

/** A row with what became of it: one line of the report. */
export interface ReportLine {
  readonly row: ManifestRow;
  readonly result: RowResult;
}

export interface JoinInput {
  /** All rows of the manifest, from its beginning. */
  readonly rows: AsyncIterable<readonly ManifestRow[]>;
  readonly journal: JournalView;
  /** What becomes of rows without a result. */
  readonly unfinished: WhyUnfinished;
  /** Name of a row's operation, empty when the row says no known one; asked for rows without a result. */
  readonly operationOf: (row: ManifestRow) => string;
}

/**
 * Joins the rows of the manifest, in their order, with the results in the journal.
 *
 * @throws a fatal error `REPORT_INCOMPLETE` when rows are missing in the manifest or come twice, or when the journal
 *   has results of rows that the manifest lacks.
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
      `the journal has a result of row ${journal.lastRow}, the manifest ends with row ${last}`,
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

/** The manifest and the journal do not belong together: the report would leave something out. */
export function incompleteReport(problem: string): CqbatchError {
  return fatalError(
    'REPORT_INCOMPLETE',
    `The report would be incomplete: ${problem}. The run's copy of its manifest has changed since the run began; ` +
      'put the original file back (its SHA-256 is in run.json), then run `cqbatch report`.',
  );
}

/** Whether a result stands for a row that has none: of a run that stopped, or goes on. */
export function isUnfinished({ code, finishedAt }: RowResult): boolean {
  return finishedAt === undefined && Object.values<string>(unfinishedCodes).includes(code);
}

/** What the journal knows of a row without a result. */
export interface UnfinishedRow {
  readonly row: number;
  /** Empty when the row does not say a known one. */
  readonly operation: string;
  readonly history: RowHistory | undefined;
  /** Whether it was handed to the datastore and what became of it is not known. */
  readonly unsettled: boolean;
}

/**
 * The line of the report for a row without a result. A row that was certainly not processed is `not_attempted`; one
 * with an attempt that the API did not just put off is `failed`, unless it will be called yet. What may have been
 * processed is unclear, so that it is not fed back unseen.
 */
export function unfinishedResult(unfinished: WhyUnfinished, row: UnfinishedRow): RowResult {
  const { history } = row;
  const lost = row.unsettled && unfinished !== 'pending';
  const unclear = lost || (history?.unclear ?? false);
  const attempted = unclear || (history !== undefined && history.attempts > history.unprocessed);
  return {
    row: row.row,
    operation: row.operation,
    outcome: attempted && unfinished !== 'pending' ? 'failed' : 'not_attempted',
    code: unfinishedCodes[unfinished],
    message: message(unfinished, history, { lost, unclear }),
    attempts: history?.attempts ?? 0,
    unclear,
    ...(history?.startedAt !== undefined && { startedAt: history.startedAt }),
    ...(history?.lastStatus !== undefined && { httpStatus: history.lastStatus }),
  };
}

function message(
  unfinished: WhyUnfinished,
  history: RowHistory | undefined,
  { lost, unclear }: { readonly lost: boolean; readonly unclear: boolean },
): string {
  const parts = [unfinished === 'pending' ? 'not finished yet' : `the run was ${unfinished}`];
  if (lost) parts.push('the process ended before it could tell what became of this row');
  if (history?.lastCode !== undefined) parts.push(`the last attempt met ${lastProblem(history)}`);
  if (unclear) parts.push('the row may have been processed');
  return parts.join('; ');
}

function lastProblem({ lastCode = '', lastMessage = '' }: RowHistory): string {
  return lastMessage === '' ? lastCode : `${lastCode}: ${lastMessage}`;
}

/** How the rows of a run stand. */
export interface ResultCounts {
  /** Rows with a result of their own. */
  readonly done: number;
  /**
   * As its report counts them, those among them that were stopped before they had a result. Rows that will be called
   * yet are not among them: they have no outcome.
   */
  readonly outcomes: OutcomeCounts;
  readonly codes: readonly CodeCount[];
  /** Also of rows that will be called yet. */
  readonly unclear: number;
}

/** Counts the rows of a run from its journal, as its report does from its lines. @param rows of the manifest */
export function countRows(journal: JournalView, rows: number, unfinished: WhyUnfinished): ResultCounts {
  const outcomes = { ...noOutcomes(), ...journal.outcomeCounts };
  const codes = new Map(journal.codeCounts.map((count) => [`${count.outcome} ${count.code}`, { ...count }]));
  let unclear = journal.unclearCount;
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
    left -= 1;
  }
  const { outcome, code } = unfinishedResult(unfinished, noRowBegun);
  add(outcome, code, left);
  return { done: journal.finishedCount, outcomes, codes: [...codes.values()], unclear };
}

const noRowBegun = { row: 0, operation: '', history: undefined, unsettled: false };
