/** What a limiter grants, in whole numbers, as servers announce it. */
export interface Policy {
  /** Requests per window; without a window, requests at once. */
  readonly quota: number;
  /** In seconds. */
  readonly window?: number;
  /** The most that can remain. */
  readonly capacity: number;
  readonly unit: 'requests' | 'concurrent-requests';
}

/** The policy of a window: several windows in one where it does not last whole seconds. `length` is in whole ms. */
export function windowPolicy(limit: number, length: number): Policy {
  const windows = 1000 / commonDivisor(length, 1000);
  return { quota: limit * windows, window: (length * windows) / 1000, capacity: limit, unit: 'requests' };
}

/** The policy of a rate per second: the shortest window with a whole quota. Rates count to six decimals. */
export function ratePolicy(rate: number, capacity: number): Policy {
  const millionths = Math.round(rate * 1e6);
  const divisor = commonDivisor(millionths, 1e6);
  return {
    quota: millionths / divisor,
    window: 1e6 / divisor,
    capacity: Math.floor(capacity),
    unit: 'requests',
  };
}

/** The policy of a number of requests at once. */
export function concurrencyPolicy(limit: number): Policy {
  return { quota: limit, capacity: limit, unit: 'concurrent-requests' };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
