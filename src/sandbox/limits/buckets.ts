import { type Admission, type Limiter, type Policy, ratePolicy } from './limiter.ts';

/**
 * So many tokens flow in per second; each admitted request takes one, refused ones take none. The bucket starts full.
 * `burst` is how many it holds: by default a second's worth.
 */
export class TokenBucket implements Limiter {
  readonly #rate: number;
  readonly #burst: number;
  readonly #policy: Policy;
  #tokens: number;
  #filledAt: number | undefined;

  constructor({ rate, burst = Math.max(1, Math.ceil(rate)) }: { rate: number; burst?: number | undefined }) {
    this.#rate = rate;
    this.#burst = burst;
    this.#policy = ratePolicy(rate, burst);
    this.#tokens = burst;
  }

  admit(now: number): Admission {
    const elapsed = (now - (this.#filledAt ?? now)) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + elapsed * this.#rate);
    this.#filledAt = now;
    const admitted = this.#tokens + tokenRounding >= 1;
    if (admitted) this.#tokens -= 1;
    const remaining = Math.floor(this.#tokens + tokenRounding);
    const nextToken = (Math.min(remaining + 1, this.#burst) - this.#tokens) / this.#rate;
    const allowance = {
      policy: this.#policy,
      remaining,
      moreAfter: nextToken * 1000,
      wholeAfter: ((this.#burst - this.#tokens) / this.#rate) * 1000,
    };
    return admitted ? { admitted, allowance } : { admitted, allowance, retryAfter: nextToken };
  }
}

/** Tokens are counted in floating point: a sum of tenths must still make a whole token. */
const tokenRounding = 1e-9;

/** Requests have their turn evenly at the rate, one by one; as many as the queue holds may wait for it. */
export class LeakyBucket implements Limiter {
  readonly #queue: number;
  /** Milliseconds from one turn to the next. */
  readonly #interval: number;
  readonly #policy: Policy;
  #nextTurn = Number.NEGATIVE_INFINITY;

  constructor({ rate, queue }: { rate: number; queue: number }) {
    this.#queue = queue;
    this.#interval = 1000 / rate;
    this.#policy = ratePolicy(rate, queue);
  }

  admit(now: number): Admission {
    const delay = Math.max(0, this.#nextTurn - now);
    const untilPlace = delay - this.#queue * this.#interval;
    if (untilPlace > turnRounding) {
      return { admitted: false, allowance: this.#allowance(now), retryAfter: untilPlace / 1000 };
    }
    this.#nextTurn = now + delay + this.#interval;
    return { admitted: true, allowance: this.#allowance(now), delay };
  }

  #allowance(now: number) {
    const lastTurn = this.#nextTurn - this.#interval - now;
    const waiting = Math.max(0, Math.ceil((lastTurn - turnRounding) / this.#interval));
    return {
      policy: this.#policy,
      remaining: this.#queue - waiting,
      moreAfter: Math.max(0, lastTurn - (waiting - 1) * this.#interval),
      wholeAfter: Math.max(0, lastTurn),
    };
  }
}

/** Of a sum of intervals, in milliseconds: times since 1970 are no more exact than that. */
const turnRounding = 1e-3;
