import type { Admission, Limiter } from './limiter.ts';
import { type Policy, ratePolicy } from './policy.ts';

export interface LeakyBucketSettings {
  readonly kind: 'leaky-bucket';
  /** Requests that have their turn per second. */
  readonly rate: number;
  /** Requests that may wait for their turn. */
  readonly queue: number;
}

/** Requests have their turn evenly at the rate, one by one, and wait for it; none may wait when the queue is full. */
export class LeakyBucket implements Limiter {
  readonly #queue: number;
  /** Milliseconds from one turn to the next. */
  readonly #interval: number;
  readonly #policy: Policy;
  #nextTurn = Number.NEGATIVE_INFINITY;

  constructor({ rate, queue }: LeakyBucketSettings) {
    this.#queue = queue;
    this.#interval = 1000 / rate;
    this.#policy = ratePolicy(rate, queue);
  }

  admit(now: number): Admission {
    const delay = Math.max(0, this.#nextTurn - now);
    const untilPlace = delay - this.#queue * this.#interval;
    if (untilPlace > rounding) {
      return { admitted: false, allowance: this.#allowance(now), retryAfter: untilPlace / 1000 };
    }
    this.#nextTurn = now + delay + this.#interval;
    return { admitted: true, allowance: this.#allowance(now), delay };
  }

  #allowance(now: number) {
    const lastTurn = this.#nextTurn - this.#interval - now;
    const waiting = Math.max(0, Math.ceil((lastTurn - rounding) / this.#interval));
    return {
      policy: this.#policy,
      remaining: this.#queue - waiting,
      moreAfter: Math.max(0, lastTurn - (waiting - 1) * this.#interval),
      wholeAfter: Math.max(0, lastTurn),
    };
  }
}

/** Of a sum of intervals, in milliseconds: times since 1970 are no more exact than that. */
const rounding = 1e-3;
