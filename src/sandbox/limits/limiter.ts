/** Decides which requests the service admits. */
export interface Limiter {
  /** `now` is in milliseconds since 1970 UTC and never goes back. Requests that are refused use nothing up. */
  readonly admit: (now: number, token: string) => Admission;
}

export type Admission = Admitted | Refused;

export interface Admitted {
  readonly admitted: true;
  /** Absent when there is no limit. */
  readonly allowance?: Allowance;
  /** Milliseconds that the request waits for its turn. */
  readonly delay?: number;
  /** To be called when the request is over. Only the first call counts. */
  readonly release?: () => void;
}

export interface Refused {
  readonly admitted: false;
  readonly allowance: Allowance;
  /** Seconds until a request can be admitted, not rounded; absent when nobody can know. */
  readonly retryAfter?: number;
}

/** What is left after a request. */
export interface Allowance {
  readonly policy: Policy;
  /** Requests that would be admitted right now. */
  readonly remaining: number;
  /** Milliseconds until more than `remaining` are; absent when nobody can know. */
  readonly moreAfter?: number;
  /** Milliseconds until the whole allowance is back; absent when nobody can know. */
  readonly wholeAfter?: number;
}

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

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
