import { perhapsCalled } from '../../attempts.ts';
import { noHistory } from '../../domain.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../journal/line.ts';
import { rangesOf } from '../../queue/batch-flow.ts';
import type { Leftover, RowTask } from '../../queue/payload.ts';

/** What a coordinator writes into the journal besides results. */

/** Of a row that may have been called, though nothing says so. How often it has been is lost: once, most likely. */
export function suspected(row: number, journal: Pick<Journal, 'history'>): JournalEntry {
  return { type: 'open', row, history: perhapsCalled(journal.history(row) ?? noHistory) };
}

/** What the attempts of a row did that is not finished; nothing when there were none. */
export function opened({ row, history }: Leftover): JournalEntry[] {
  return history === undefined ? [] : [{ type: 'open', row, history }];
}

/** Rows that are next to each other are one entry. */
export function fed(tasks: readonly RowTask[], epoch: string | undefined): JournalEntry[] {
  const to = epoch === undefined ? {} : { to: epoch };
  return rangesOf(tasks).map(([first, last]) => ({ type: 'fed', first, last, ...to }));
}
