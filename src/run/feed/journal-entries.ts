import { perhapsCalled } from '../../attempts.ts';
import { noHistory } from '../../domain.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { rangesOf } from '../../queue/batch-flow.ts';
import type { Leftover, RowTask } from '../../queue/payload.ts';

/** Entries of a coordinator besides results. */

/** Marks a row as perhaps called. The number of calls is lost; most likely it was one. */
export function suspected(row: number, journal: Pick<Journal, 'history'>): JournalEntry {
  return { type: 'open', row, history: perhapsCalled(journal.history(row) ?? noHistory) };
}

/** The history of an unfinished row; no entry if it had no attempts. */
export function opened({ row, history }: Leftover): JournalEntry[] {
  return history === undefined ? [] : [{ type: 'open', row, history }];
}

/** Consecutive rows share an entry. */
export function fed(tasks: readonly RowTask[], epoch: string | undefined): JournalEntry[] {
  const to = epoch === undefined ? {} : { to: epoch };
  return rangesOf(tasks).map(([first, last]) => ({ type: 'fed', first, last, ...to }));
}
