import type { Trouble } from './health-evidence.ts';
import type { CountedCalls } from './streaks.ts';

/** The most calls that may have been processed, calls in flight included. */
const mostUnclearCalls = 5;
const mostDoneRefusals = 20;

/**
 * Counts calls from before a success that a wrong address would explain, or a service that has changed entries: few may follow.
 *
 * - 2xx answers that could not be read, until an operation has succeeded;
 * - other calls that may have been processed, until anything was answered;
 * - refusals that would mean "done", until an operation has succeeded.
 */
export class EarlyCalls {
  #unreadAnswers = 0;
  #lostAnswers = 0;
  #doneRefusals = 0;

  /** @param isUnproven whether nothing was ever answered */
  add({ cause, failure }: Trouble, isUnproven: boolean): void {
    if (cause === 'unread') this.#unreadAnswers += 1;
    else if (isUnproven && failure.unclear) this.#lostAnswers += 1;
    if (cause === 'done') this.#doneRefusals += 1;
  }

  noteAnswer(): void {
    this.#lostAnswers = 0;
  }

  noteSuccess(): void {
    this.#unreadAnswers = 0;
    this.#doneRefusals = 0;
  }

  /** The most rows in hand once anything was answered. */
  get mostInHand(): number {
    return this.#unreadAnswers > 0 ? this.mostInFlight : Number.POSITIVE_INFINITY;
  }

  /** Calls that may be in flight at a time: each may be another one that can't be read. */
  get mostInFlight(): number {
    return Math.max(1, mostUnclearCalls - this.#unreadAnswers - this.#lostAnswers);
  }

  get areTooMany(): boolean {
    return (
      this.#unreadAnswers + this.#lostAnswers >= mostUnclearCalls || this.#doneRefusals >= mostDoneRefusals
    );
  }

  streakTo(latest: Trouble): CountedCalls {
    return { calls: this.#unreadAnswers + this.#lostAnswers + this.#doneRefusals, lastedMs: 0, latest };
  }
}
