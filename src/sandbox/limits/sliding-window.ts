import type { Admission, Limiter } from './limiter.ts';
import { type Policy, windowPolicy } from './policy.ts';

export interface SlidingWindowSettings {
  readonly kind: 'sliding-window';
  /** Requests that are admitted in any window. */
  readonly limit: number;
  /** Whole milliseconds. */
  readonly window: number;
}

/** So many requests in any span of the window's length: exact, from the time of each admission. */
export class SlidingWindow implements Limiter {
  readonly #settings: SlidingWindowSettings;
  readonly #policy: Policy;
  /** Times of admission in order; those before `#oldest` are out of the window. */
  #times: number[] = [];
  #oldest = 0;

  constructor(settings: SlidingWindowSettings) {
    this.#settings = settings;
    this.#policy = windowPolicy(settings.limit, settings.window);
  }

  admit(now: number): Admission {
    const { limit, window } = this.#settings;
    this.#forget(now - window);
    const admitted = this.#times.length - this.#oldest < limit;
    if (admitted) this.#times.push(now);
    const moreAfter = (this.#times[this.#oldest] ?? now) + window - now;
    const allowance = {
      policy: this.#policy,
      remaining: limit - (this.#times.length - this.#oldest),
      moreAfter,
      wholeAfter: (this.#times.at(-1) ?? now) + window - now,
    };
    return admitted ? { admitted, allowance } : { admitted, allowance, retryAfter: moreAfter / 1000 };
  }

  /** Forgets admissions up to a time, that time included. */
  #forget(until: number): void {
    while ((this.#times[this.#oldest] ?? Number.POSITIVE_INFINITY) <= until) this.#oldest++;
    // Now and then, so that it costs next to nothing and no more than twice the limit is kept.
    if (this.#oldest > this.#times.length / 2) {
      this.#times = this.#times.slice(this.#oldest);
      this.#oldest = 0;
    }
  }
}
