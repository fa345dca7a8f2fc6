import type { Outcome, OutcomeCounts, RowHistory, RowResult } from '../domain.ts';
import type { FailureTally } from './failed-rows.ts';

/**
 * What a journal says, one entry a line:
 *
 * - `row`: a row is finished. The first result of a row counts, later ones are ignored.
 * - `fed`: rows `first` to `last` are about to be handed to the datastore, in the incarnation that `to` names.
 * - `open`: an unfinished row and what its attempts did, written when a run is stopped or recovered. The latest counts.
 * - `settled`: whatever was fed before is finished, described by an `open` entry, or was never called; the datastore
 *   holds nothing of this run any more.
 * - `accepted`: a person lets the run go on after a guard has halted it. The guards count from here on.
 */
export type JournalEntry =
  | { readonly type: 'row'; readonly result: RowResult }
  | { readonly type: 'fed'; readonly first: number; readonly last: number; readonly to?: string }
  | { readonly type: 'open'; readonly row: number; readonly history: RowHistory }
  | { readonly type: 'settled' }
  | { readonly type: 'accepted' };

/** How many rows ended with an outcome and a code. */
export interface CodeCount {
  readonly outcome: Outcome;
  readonly code: string;
  readonly count: number;
}

/** What a journal knows. */
export interface JournalView {
  /** Rows with a result. */
  readonly finishedCount: number;
  readonly outcomeCounts: OutcomeCounts;
  readonly codeCounts: readonly CodeCount[];
  /** What the guards go by: of all rows, or of those that finished since the latest `accepted`. */
  readonly failures: FailureTally;
  /** Finished rows with an attempt that may have been processed without its answer arriving. */
  readonly unclearCount: number;
  /** Highest number of a finished row, 0 when there is none. */
  readonly lastRow: number;
  /** The latest end of a finished row's last attempt, ISO 8601 UTC. */
  readonly lastFinishedAt: string | undefined;
  isFinished(row: number): boolean;
  /** What the attempts of an unfinished row did, as its latest `open` entry says. */
  history(row: number): RowHistory | undefined;
  /** Whether the row was fed and is neither finished nor, since it was fed, opened or settled. */
  isUnsettled(row: number): boolean;
  /** The incarnation of the datastore to which an unsettled row was fed, if the journal says it. */
  fedTo(row: number): string | undefined;
  /** The rows of which `isUnsettled` is true, in the order in which they were fed. */
  unsettledRows(): Iterable<number>;
  /** The rows without a result of which `history` or `isUnsettled` tells something. */
  begunRows(): Iterable<number>;
  /**
   * The results of the finished rows from `first` (default 1) to `last` (default: the last one), in row order and in
   * parts of up to 1,000. Memory does not depend on how many there are.
   */
  results(first?: number, last?: number): AsyncIterable<readonly RowResult[]>;
  close(): Promise<void>;
}

/** A journal that this process writes. Nobody else may write it at the same time. */
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
  refresh(): Promise<void>;
}
