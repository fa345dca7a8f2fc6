import { setTimeout as pause } from 'node:timers/promises';
import type { ApiFailure } from '../api/failure.ts';
import { backoffAfter, statedWaitMs, unstatedWaitMs } from '../api/waiting-time.ts';

export interface CallPace {
  /** The most attempts for a page or an entry with transient failures. */
  readonly attempts: number;
  /** The pause after the first failed attempt; it doubles. */
  readonly backoffMs: number;
  /** How long the API may be unreachable, or refuse calls. Null means without end. */
  readonly maxOutageMs: number | null;
  /** The least time between the beginnings of two calls. */
  readonly spacingMs: number;
  readonly signal: AbortSignal;
}

/** Why no call is made. */
export interface ListWait {
  /** When calls continue, by `performance.now()`. */
  readonly until: number;
  readonly why: string;
}

/** Paces calls that are made one at a time: `turn` before each, then `answered`, or `mayRepeat` after a failure. */
export class SteadyCalls {
  waiting: ListWait | undefined;
  readonly #pace: CallPace;
  #calledAt = Number.NEGATIVE_INFINITY;
  /** When the latest part of an answer came. */
  #answerPartAt = performance.now();
  /** The failed attempts since the last answer: transient failures only, not refusals. */
  #failedAttempts = 0;
  #refusals = 0;

  constructor(pace: CallPace) {
    this.#pace = pace;
  }

  /** How long the current call has brought nothing. */
  get silentMs(): number {
    return performance.now() - Math.max(this.#answerPartAt, this.#calledAt);
  }

  async waitForTurn(): Promise<void> {
    await this.#wait(this.#calledAt + this.#pace.spacingMs, 'the rate (--rate)');
    this.#calledAt = performance.now();
  }

  noteAnswerPart(): void {
    this.#answerPartAt = performance.now();
  }

  noteAnswer(): void {
    this.noteAnswerPart();
    this.#failedAttempts = 0;
    this.#refusals = 0;
  }

  /** Waits as the failure asks. Returns false at once when a further attempt makes no sense. */
  async mayRepeat(failure: ApiFailure): Promise<boolean> {
    const { attempts, backoffMs, maxOutageMs } = this.#pace;
    if (failure.class === 'retry') this.#failedAttempts++;
    else if (failure.class === 'slow-down' || failure.class === 'unreachable') this.#refusals++;
    else return false;
    const isOutageOver = maxOutageMs !== null && performance.now() - this.#answerPartAt > maxOutageMs;
    if (this.#failedAttempts >= attempts || isOutageOver) return false;
    const own =
      failure.class === 'retry'
        ? backoffAfter(this.#failedAttempts, backoffMs, Math.random())
        : statedWaitMs(failure.waitMs ?? unstatedWaitMs(this.#refusals));
    const until = performance.now() + Math.max(own, failure.waitMs ?? 0);
    await this.#wait(until, failure.waitBy ?? failure.message);
    return true;
  }

  async #wait(until: number, why: string): Promise<void> {
    const ms = until - performance.now();
    if (ms <= 0) return;
    this.waiting = { until, why };
    try {
      await pause(ms, undefined, { signal: this.#pace.signal });
    } finally {
      this.waiting = undefined;
    }
  }
}
