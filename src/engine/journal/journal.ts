import type { RowResult } from '../../domain/terms.ts';
import type { JournalEntry } from './line.ts';
import type { JournalState } from './state.ts';

/** Read access to a journal: its counts, the state of its rows, and its results. */
export interface JournalView extends Readonly<Omit<JournalState, 'apply' | 'offset'>> {
  /**
   * Results of the rows from `first` (default 1) to `last` (default: the last one), in row order and in parts of up to 1,000. Memory does
   * not depend on their number.
   */
  results(first?: number, last?: number): AsyncIterable<readonly RowResult[]>;
  close(): Promise<void>;
}

/** A journal that this process writes, and no other at the same time. */
export interface Journal extends JournalView {
  /**
   * Adds entries in this order. Resolves when the entries are synced, with the new results.
   *
   * @throws a fatal error `JOURNAL_UNWRITABLE` or `JOURNAL_REMOVED`, or a `SystemError`, when a write failed, and always after that.
   */
  append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]>;
  /** Bytes of the synced entries. */
  readonly end: number;
  /** New results are synced, whichever code appended them. */
  onFinished?: (results: readonly RowResult[]) => void;
  /** Resolves with the reason when the file is removed or replaced; never settles otherwise. */
  readonly lost: Promise<Error>;
  /** The file is in its place, with all that was appended. */
  isIntact(): Promise<boolean>;
}

/** A journal that this process only reads, while another one may be writing it. */
export interface JournalReader extends JournalView {
  refresh(): Promise<unknown>;
}
