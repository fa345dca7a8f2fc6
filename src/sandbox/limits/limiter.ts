import type { Policy } from './policy.ts';

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
