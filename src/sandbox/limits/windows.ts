import { type Admission, type Limiter, type Policy, windowPolicy } from './limiter.ts';

/** Whole milliseconds, and how many requests it admits. */
interface Window {
  readonly window: number;
  readonly limit: number;
}

/**
 * So many requests per window, whenever in it they come. Windows begin by the `clock` at the multiples of their length
 * since 1970 UTC, or with the `first` request after the end of the one before.
 */
export class FixedWindow implements Limiter {
  readonly #settings: Window & { readonly align: 'clock' | 'first' };
  readonly #policy: Policy;
  #end = Number.NEGATIVE_INFINITY;
  #admitted = 0;

  constructor(settings: Window & { readonly align: 'clock' | 'first' }) {
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

/** So many requests from one midnight UTC to the next. */
export function dailyQuota({ limit }: { readonly limit: number }): Limiter {
  // 1970 began at midnight, and days in milliseconds since then have no leap seconds.
  return new FixedWindow({ limit, window: 86_400_000, align: 'clock' });
}

/** So many requests in any span of the window's length: exact, from the time of each admission. */
export class SlidingWindow implements Limiter {
  readonly #settings: Window;
  readonly #policy: Policy;
  /** Times of admission in order; those before `#oldest` are out of the window. */
  #times: number[] = [];
  #oldest = 0;

  constructor(settings: Window) {
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

/** So many requests at once, each from its admission to its release. */
export class Concurrency implements Limiter {
  readonly #limit: number;
  readonly #policy: Policy;
  #inFlight = 0;

  constructor({ limit }: { readonly limit: number }) {
    this.#limit = limit;
    this.#policy = { quota: limit, capacity: limit, unit: 'concurrent-requests' };
  }

  admit(): Admission {
    if (this.#inFlight >= this.#limit) {
      return { admitted: false, allowance: { policy: this.#policy, remaining: 0 } };
    }
    this.#inFlight++;
    let released = false;
    return {
      admitted: true,
      allowance: { policy: this.#policy, remaining: this.#limit - this.#inFlight },
      release: () => {
        if (!released) this.#inFlight--;
        released = true;
      },
    };
  }
}
