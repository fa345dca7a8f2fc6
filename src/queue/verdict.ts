import type { RowHistory, RowResult } from '../domain.ts';
import type { CqbatchError } from '../errors.ts';

/** What a worker makes of one claim of a row. */
export type RowVerdict =
  /** The row is done, well or badly. */
  | { readonly kind: 'finished'; readonly result: RowResult }
  /** The attempt failed and may be repeated after a while; it used up one of the row's attempts. */
  | { readonly kind: 'retry'; readonly history: RowHistory; readonly delayMs: number }
  /**
   * The API asks everybody to slow down; the row goes back and no attempt is used up. Nobody claims a row for `waitMs`
   * milliseconds; 0 leaves it to the governor.
   */
  | { readonly kind: 'throttled'; readonly history: RowHistory; readonly waitMs: number }
  /** The row goes back, for a while if `delayMs` says so, and no attempt is used up. */
  | { readonly kind: 'returned'; readonly history: RowHistory; readonly delayMs?: number }
  /** This worker does not understand the row; it goes back as it was, for another one, and this one must stop. */
  | { readonly kind: 'refused'; readonly reason: CqbatchError };

/** How often and after which pauses a failed attempt is repeated. */
export interface RetryPolicy {
  /** Attempts a row has for failures that may pass, from 1. */
  readonly attempts: number;
  /** Upper bound of the pause after the first failed attempt, in milliseconds; it doubles with each further one. */
  readonly backoffMs: number;
}

/** A claim of a row, as the datastore knows it. */
export interface Claim {
  /** Attempts used up before this one. */
  readonly attemptsUsed: number;
  /** Earlier claims of which nothing is known: their worker died, perhaps after the call. */
  readonly lostClaims: number;
  /** What the run that the row belongs to allows; other runs may allow something else. */
  readonly policy: RetryPolicy;
}
