import { counted } from '../../base/text/format.ts';
import type { Outage } from '../../domain/pace.ts';

/** Retries in hand at the start, for all workers together. */
const quotaAtStart = 100;
/** What a row that succeeds at its first call adds: in the long run one retry for ten such rows. */
const retriesPerSuccess = 0.1;
/** Retries/s of all workers together that always go on, so that a run ends when only retries are left. */
const retriesPerSecond = 2;
const longestWaitMs = 30_000;
/** Without another call for this long, retries are what the worker waits for. */
const silenceMs = 2_000;
/** The most runs whose quotas are kept, to bound memory. */
const keptRuns = 100;

interface QuotaOfRun {
  retries: number;
  at: number;
  /** When the last of the waiting rows is due. */
  lastDueAt: number;
  /** The number of rows that wait for a retry. */
  waiting: number;
  /** When the latest call that was no waiting retry began. */
  calledAt: number;
}

/**
 * One retry quota for all calls of a run. A retry after a transient failure takes one from it; its success gives it back, and other
 * successes add a little. When it is empty, rows wait. So a service that fails many calls gets few more of them, while a few failures of a
 * healthy service are repeated at once.
 *
 * The circuit breaker is for a service that answers no call: then there are no retries, only tests.
 */
export class RetryQuota {
  /** The workers that call the API: each has an equal share of the quota. */
  workers = 1;
  readonly #buckets = new Map<string, QuotaOfRun>();

  /** @returns 0 if the row may be retried now, which uses up a retry; or how long the row must wait */
  take(run: string, now: number): number {
    const bucket = this.#bucket(run, now);
    if (bucket.retries >= 1) {
      bucket.retries -= 1;
      if (bucket.waiting === 0) bucket.calledAt = now;
      bucket.waiting = Math.max(0, bucket.waiting - 1);
      return 0;
    }
    const intervalMs = (1_000 * this.workers) / retriesPerSecond;
    bucket.waiting = bucket.lastDueAt > now ? bucket.waiting + 1 : 1;
    bucket.lastDueAt = Math.max(now, bucket.lastDueAt) + intervalMs;
    return Math.min(Math.ceil(bucket.lastDueAt - now), longestWaitMs);
  }

  /** @param isRetry whether the row had failed before */
  noteSuccess(run: string, isRetry: boolean, now: number): void {
    const bucket = this.#bucket(run, now);
    bucket.retries = Math.min(bucket.retries + (isRetry ? 1 : retriesPerSuccess), this.#capacity);
    if (!isRetry) bucket.calledAt = now;
  }

  /** The wait of rows for their retries, if any. `isAll`: nothing but retries is left to call. */
  wait(now: number): (Outage & { readonly isAll: boolean }) | undefined {
    const waiting = [...this.#buckets.values()].filter(
      ({ lastDueAt, waiting }) => waiting > 0 && lastDueAt > now,
    );
    if (waiting.length === 0) return undefined;
    const rows = waiting.reduce((sum, bucket) => sum + bucket.waiting, 0);
    const dueInMs = Math.min(...waiting.map(({ lastDueAt }) => lastDueAt - now));
    return {
      reason: `many calls fail: ${counted(rows, 'row')} must wait for a retry`,
      testMs: Math.min(dueInMs, (1_000 * this.workers) / retriesPerSecond),
      isAll: waiting.every(({ calledAt }) => now >= calledAt + silenceMs),
    };
  }

  get #capacity(): number {
    return Math.max(1, quotaAtStart / this.workers);
  }

  #bucket(run: string, now: number): QuotaOfRun {
    const known = this.#buckets.get(run) ?? {
      retries: this.#capacity,
      at: now,
      lastDueAt: 0,
      waiting: 0,
      calledAt: now,
    };
    const gained = (retriesPerSecond * (now - known.at)) / 1_000 / this.workers;
    known.retries = Math.min(known.retries + gained, this.#capacity);
    known.at = now;
    // The quota of the run is set again, so that the latest runs come last in the map.
    this.#buckets.delete(run);
    this.#buckets.set(run, known);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > keptRuns && oldest !== undefined) this.#buckets.delete(oldest);
    return known;
  }
}
