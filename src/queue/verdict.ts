import type { RowHistory, RowResult } from '../domain.ts';

/** What a worker makes of a row that it has in hand. */
export type RowVerdict =
  /** The row is done, well or badly. */
  | { readonly kind: 'finished'; readonly result: RowResult }
  /** The attempt failed and may be repeated after a while; it used up one of the row's attempts. */
  | { readonly kind: 'retry'; readonly history: RowHistory; readonly delayMs: number }
  /**
   * The API asks everybody to slow down; the row goes back and no attempt is used up. Nobody calls for `waitMs`
   * milliseconds; 0 leaves it to the governor.
   */
  | { readonly kind: 'throttled'; readonly history: RowHistory; readonly waitMs: number }
  /** The row goes back, for a while if `delayMs` says so, and no attempt is used up. */
  | { readonly kind: 'returned'; readonly history: RowHistory; readonly delayMs?: number };

/** How often and after which pauses a failed attempt is repeated. */
export interface RetryPolicy {
  /** Attempts a row has for failures that may pass, from 1. */
  readonly attempts: number;
  /** Upper bound of the pause after the first failed attempt, in milliseconds; it doubles with each further one. */
  readonly backoffMs: number;
}

/** A row in the hands of a worker. */
export interface Claim {
  /** Attempts used up before this one. */
  readonly attemptsUsed: number;
  /** What the run that the row belongs to allows; other runs may allow something else. */
  readonly policy: RetryPolicy;
  /** Has it written down that the row is about to be called. Resolves once it is; false: the row must not be called. */
  intend(): Promise<boolean>;
  /** Whether it may still be called: its batch is neither wanted back nor lost. */
  isWanted(): boolean;
}
