import { noOutcomes, type Outcome, type OutcomeCounts } from '../domain.ts';
import type { JournalView } from '../journal/journal.ts';
import type { CodeCount } from '../journal/state.ts';
import { unfinishedResult, type WhyUnfinished } from './join-results.ts';

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
export function countRows(
  journal: Pick<
    JournalView,
    | 'finishedCount'
    | 'outcomeCounts'
    | 'codeCounts'
    | 'unclearCount'
    | 'begunRows'
    | 'history'
    | 'isUnsettled'
  >,
  rows: number,
  unfinished: WhyUnfinished,
): ResultCounts {
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
