import type { Admission, Limiter, Policy } from './limiter.ts';

export interface ConcurrencySettings {
  readonly kind: 'concurrency';
  /** Requests that may be in flight. */
  readonly limit: number;
}

/** So many requests at once, each from its admission to its release. */
export class Concurrency implements Limiter {
  readonly #limit: number;
  readonly #policy: Policy;
  #inFlight = 0;

  constructor({ limit }: ConcurrencySettings) {
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
