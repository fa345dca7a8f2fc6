import { perhapsCalled } from '../../../domain/attempts.ts';
import { type AttemptHistory, noHistory, type RowResult } from '../../../domain/terms.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { rangesOf } from '../../queue/batch-flow.ts';
import type { LostEntries } from '../../queue/lost-entries.ts';
import type { Leftover, RowTask } from '../../queue/payload.ts';
import { countedAttempts } from '../../queue/recollection.ts';

/** How often the row was called is lost; most likely once. */
export function suspected(row: number, journal: Pick<Journal, 'history'>): JournalEntry {
  return { type: 'open', row, history: perhapsCalled(journal.history(row) ?? noHistory) };
}

/** Rows in the datastore. */
export interface DatastoreRows {
  /** In batches that workers have or can claim, or that wait for their collection. */
  readonly held: ReadonlySet<number>;
  /** In batches that an earlier coordinator took back without a call. */
  readonly taken: ReadonlySet<number>;
}

/**
 * Suspects fed rows of which neither the datastore nor the journal knows more. In an unchanged epoch, those that were added were lost with
 * a key, and others never arrived. In another epoch all may have been called. So may rows that were fed again: an older copy of the
 * datastore holds their first task.
 */
export function lostSince(
  epoch: string | undefined,
  { held, taken }: DatastoreRows,
  journal: Pick<Journal, 'unsettledRows' | 'fedTo' | 'isFedAgain' | 'isAdded'>,
): { readonly withKeys: readonly number[]; readonly withEpoch: readonly number[] } {
  const unsettled = [...journal.unsettledRows()];
  const isOfEpoch = (row: number): boolean => epoch !== undefined && journal.fedTo(row) === epoch;
  return {
    withKeys: unsettled.filter(
      (row) => isOfEpoch(row) && journal.isAdded(row) && !held.has(row) && !taken.has(row),
    ),
    withEpoch: unsettled.filter(
      (row) => !isOfEpoch(row) && (!held.has(row) || (epoch !== undefined && journal.isFedAgain(row))),
    ),
  };
}

/** Keeps what the journal knows already: a batch of an older copy of the datastore knows less. */
export function opened(leftovers: readonly Leftover[], journal: Pick<Journal, 'history'>): JournalEntry[] {
  return leftovers.flatMap(({ row, history }) =>
    history === undefined ? [] : [{ type: 'open', row, history: fuller(history, journal.history(row)) }],
  );
}

/** Rows that a worker has handed back without a call: the next coordinator must not take them for lost. */
export function returned(leftovers: readonly Leftover[]): JournalEntry[] {
  const uncalled = leftovers.filter(({ history }) => history === undefined);
  return rangesOf(uncalled).map(([first, last]) => ({ type: 'returned', first, last }));
}

export function added(tasks: readonly RowTask[]): JournalEntry[] {
  return rangesOf(tasks).map(([first, last]) => ({ type: 'added', first, last }));
}

function fuller(history: AttemptHistory, known: AttemptHistory | undefined): AttemptHistory {
  if (known === undefined) return history;
  if (known.attempts > history.attempts) return known;
  return known.unclear && !history.unclear ? { ...history, unclear: true } : history;
}

/** Marks a result as unclear if the journal counts more calls: the result is from an older copy of the datastore. */
export function ended(result: RowResult, journal: Pick<Journal, 'history'>): JournalEntry {
  const { attempts = 0 } = journal.history(result.row) ?? {};
  return {
    type: 'row',
    result: attempts > result.attempts ? { ...result, attempts, unclear: true } : result,
  };
}

export function withHistory(task: RowTask, journal: Pick<Journal, 'history'>): RowTask {
  const history = journal.history(task.row);
  return history === undefined ? task : { ...task, history };
}

/**
 * Entries about unfinished rows that the journal has lost.
 *
 * @param held rows in the datastore, with all that is known about them
 */
export function openAgain(
  { leftovers, doubtful }: LostEntries,
  held: ReadonlySet<number>,
  journal: Pick<Journal, 'history' | 'isFinished'>,
): JournalEntry[] {
  const isOpen = (row: number): boolean => !held.has(row) && !journal.isFinished(row);
  const known = (row: number): number => journal.history(row)?.attempts ?? 0;
  const called = leftovers.filter(
    (leftover) => isOpen(leftover.row) && countedAttempts(leftover) > known(leftover.row),
  );
  return [
    ...opened(called, journal),
    ...doubtful
      .filter((row) => isOpen(row) && !journal.history(row)?.unclear)
      .map((row) => suspected(row, journal)),
  ];
}

/** Consecutive rows share an entry. */
export function fed(tasks: readonly RowTask[], epoch: string | undefined): JournalEntry[] {
  const to = epoch === undefined ? {} : { to: epoch };
  return rangesOf(tasks).map(([first, last]) => ({ type: 'fed', first, last, ...to }));
}
