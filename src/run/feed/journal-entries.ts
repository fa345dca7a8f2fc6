import { perhapsCalled } from '../../attempts.ts';
import { noHistory } from '../../domain.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { rangesOf } from '../../queue/batch-flow.ts';
import type { LostEntries } from '../../queue/lost-entries.ts';
import type { Leftover, RowTask } from '../../queue/payload.ts';
import { countedAttempts } from '../../queue/recollection.ts';

/** Entries of a coordinator besides results. */

/** Marks a row as perhaps called. The number of calls is lost; most likely it was one. */
export function suspected(row: number, journal: Pick<Journal, 'history'>): JournalEntry {
  return { type: 'open', row, history: perhapsCalled(journal.history(row) ?? noHistory) };
}

/** The history of an unfinished row; no entry if it had no attempts. */
export function opened({ row, history }: Leftover): JournalEntry[] {
  return history === undefined ? [] : [{ type: 'open', row, history }];
}

/**
 * What the journal has lost of rows without a result.
 *
 * @param held rows that the datastore holds, with all that is known of them
 */
export function openAgain(
  { leftovers, doubtful }: LostEntries,
  held: ReadonlySet<number>,
  journal: Pick<Journal, 'history' | 'isFinished'>,
): JournalEntry[] {
  const isOpen = (row: number): boolean => !held.has(row) && !journal.isFinished(row);
  const known = (row: number): number => journal.history(row)?.attempts ?? 0;
  return [
    ...leftovers
      .filter((leftover) => isOpen(leftover.row) && countedAttempts(leftover) > known(leftover.row))
      .flatMap(opened),
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
