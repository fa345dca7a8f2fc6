import type { Admission, Limiter } from './limiter.ts';
import { type Policy, windowPolicy } from './policy.ts';

export interface FixedWindowSettings {
  readonly kind: 'fixed-window';
  /** Requests per window. */
  readonly limit: number;
  /** Whole milliseconds. */
  readonly window: number;
  readonly align: WindowAlignment;
}

/**
 * When windows begin: `clock` at the multiples of their length since 1970 UTC; `first` with the first request after
 * the end of the one before.
 */
export type WindowAlignment = 'clock' | 'first';

/** So many requests per window, whenever in it they come. */
export class FixedWindow implements Limiter {
  readonly #settings: FixedWindowSettings;
  readonly #policy: Policy;
  #end = Number.NEGATIVE_INFINITY;
  #admitted = 0;

  constructor(settings: FixedWindowSettings) {
    this.#settings = settings;
    this.#policy = windowPolicy(settings.limit, settings.window);
  }

  admit(now: number): Admission {
    const { limit, window, align } = this.#settings;
    if (now >= this.#end) {
      const begin = align === 'clock' ? Math.floor(now / window) * window : now;
      this.#end = begin + window;
      this.#admitted = 0;
    }
    const admitted = this.#admitted < limit;
    if (admitted) this.#admitted++;
    const rest = this.#end - now;
    const allowance = {
      policy: this.#policy,
      remaining: limit - this.#admitted,
      moreAfter: rest,
      wholeAfter: rest,
    };
    return admitted ? { admitted, allowance } : { admitted, allowance, retryAfter: rest / 1000 };
  }
}
