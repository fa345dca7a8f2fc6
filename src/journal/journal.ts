import type { RowResult } from '../domain.ts';
import type { JournalEntry } from './line.ts';
import type { JournalState } from './state.ts';

/** What a journal knows. */
export interface JournalView extends Readonly<Omit<JournalState, 'apply' | 'offset'>> {
  /**
   * The results of the finished rows from `first` (default 1) to `last` (default: the last one), in row order and in
   * parts of up to 1,000. Memory does not depend on how many there are.
   */
  results(first?: number, last?: number): AsyncIterable<readonly RowResult[]>;
  close(): Promise<void>;
}

/** A journal that this process writes, and no other one at the same time. */
export interface Journal extends JournalView {
  /**
   * Adds entries, in this order. Resolves when they are synced to disk, with the results that were new.
   *
   * @throws a fatal error `JOURNAL_UNWRITABLE` or `JOURNAL_REMOVED`, or a `SystemError`, when a write failed, from
   *   then on always.
   */
  append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]>;
  /** Called with results that are new, once they are synced, whoever appends them. */
  onFinished?: (results: readonly RowResult[]) => void;
  /** Resolves with the reason when the file is removed or replaced; never settles otherwise. */
  readonly lost: Promise<Error>;
  /** Whether the file is still in its place, with all that was appended. */
  isIntact(): Promise<boolean>;
}

/** A journal that this process only looks at, while another one may be writing it. */
export interface JournalReader extends JournalView {
  /** Reads what was appended since. */
  refresh(): Promise<unknown>;
}
