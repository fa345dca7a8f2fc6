import type { Trouble } from './health-evidence.ts';
import type { CountedCalls } from './streaks.ts';

/** The most calls that may have been processed, calls in flight included. */
const mostUnclear = 5;
const mostUndone = 20;

/**
 * Counts calls from before a success that a wrong address would explain, or a service that has changed entries: few may follow.
 *
 * - 2xx answers that could not be read, until an operation has succeeded;
 * - other calls that may have been processed, until anything was answered;
 * - refusals that would mean "done", until an operation has succeeded.
 */
export class EarlyCalls {
  #unread = 0;
  #lost = 0;
  #undone = 0;

  /** @param isUnproven whether nothing was ever answered */
  add({ cause, failure }: Trouble, isUnproven: boolean): void {
    if (cause === 'unread') this.#unread += 1;
    else if (isUnproven && failure.unclear) this.#lost += 1;
    if (cause === 'done') this.#undone += 1;
  }

  answered(): void {
    this.#lost = 0;
  }

  succeeded(): void {
    this.#unread = 0;
    this.#undone = 0;
  }

  /** The most rows in hand once anything was answered. */
  get mostInHand(): number {
    return this.#unread > 0 ? this.mayBeInFlight : Number.POSITIVE_INFINITY;
  }

  /** Calls that may be in flight at a time: each may be another one that can't be read. */
  get mayBeInFlight(): number {
    return Math.max(1, mostUnclear - this.#unread - this.#lost);
  }

  get areTooMany(): boolean {
    return this.#unread + this.#lost >= mostUnclear || this.#undone >= mostUndone;
  }

  streakTo(latest: Trouble): CountedCalls {
    return { calls: this.#unread + this.#lost + this.#undone, lastedMs: 0, latest };
  }
}
