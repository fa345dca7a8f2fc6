import type { RowResult } from '../../domain/row-result.ts';
import type { JournalEntry } from './line.ts';
import type { JournalState } from './state.ts';

/** A journal to read. */
export interface JournalView extends Readonly<Omit<JournalState, 'apply' | 'offset'>> {
  /**
   * The results of rows `first` (default 1) to `last` (default: the last row), in row order and parts of up to 1,000. Memory does not
   * depend on their number.
   */
  results(first?: number, last?: number): AsyncIterable<readonly RowResult[]>;
  close(): Promise<void>;
}

/** A journal that only this process writes. */
export interface Journal extends JournalView {
  /**
   * Appends the entries in their order. Resolves with the new results when the entries are synced.
   *
   * @throws a fatal error `JOURNAL_UNWRITABLE` or `JOURNAL_REMOVED`, or a `SystemError`, when a write failed, and always after that
   */
  append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]>;
  /** Bytes of the synced entries. */
  readonly end: number;
  /** Called when new results are synced. */
  onFinished?: (results: readonly RowResult[]) => void;
  /** Resolves with the reason when the file is removed or replaced. */
  readonly lost: Promise<Error>;
  /** Whether the file is in its place and has all that was appended. */
  isIntact(): Promise<boolean>;
}

/** A journal that another process may be writing. */
export interface JournalReader extends JournalView {
  refresh(): Promise<unknown>;
}
