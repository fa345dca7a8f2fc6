import type { Trouble } from './health-evidence.ts';

/** Consecutive failed calls that are an outage, or fewer over a longer time. The restart of a server is no outage. */
const manyFailures = { calls: 20, overMs: 2_000 };
const severalFailures = { calls: 5, overMs: 10_000 };

export function areSeveralFailures(calls: number): boolean {
  return calls >= severalFailures.calls;
}

/** Calls that make a run give up. */
export interface CountedCalls {
  readonly calls: number;
  readonly lastedMs: number;
  readonly latest: Trouble;
}

/** Failed calls without an answer between them. */
export class FailureStreak {
  readonly since = performance.now();
  calls = 0;
  latest: Trouble;

  constructor(first: Trouble) {
    this.latest = first;
  }

  /** Adds a failed call. A row that always fails counts once. */
  add(trouble: Trouble): void {
    if (trouble.cause !== 'either' || !trouble.isRepeated) this.calls += 1;
    this.latest = trouble;
  }

  get lastedMs(): number {
    return performance.now() - this.since;
  }

  /** When the streak becomes an outage; infinite while it does not. */
  get outageAt(): number {
    if (this.calls >= manyFailures.calls) return this.since + manyFailures.overMs;
    return areSeveralFailures(this.calls) ? this.since + severalFailures.overMs : Number.POSITIVE_INFINITY;
  }
}

/** The most time that counts between two refusals: the API may have asked for a longer wait. */
const longestPauseMs = 60_000;

/** Refusals (429, 503) without another answer between them. */
export class RefusalStreak {
  calls = 0;
  lastedMs = 0;
  #lastAt = 0;

  add(): void {
    const now = performance.now();
    if (this.calls > 0) this.lastedMs += Math.min(now - this.#lastAt, longestPauseMs);
    this.calls += 1;
    this.#lastAt = now;
  }

  end(): void {
    this.calls = 0;
    this.lastedMs = 0;
  }
}
