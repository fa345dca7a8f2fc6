import { type Admission, type Limiter, type Policy, windowPolicy } from './limiter.ts';

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

export interface DailyQuotaSettings {
  readonly kind: 'daily-quota';
  /** Requests per day. */
  readonly limit: number;
}

/** So many requests from one midnight UTC to the next. */
export function dailyQuota({ limit }: DailyQuotaSettings): Limiter {
  // 1970 began at midnight, and days in milliseconds since then have no leap seconds.
  return new FixedWindow({ kind: 'fixed-window', limit, window: 86_400_000, align: 'clock' });
}

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
