import { createHistogram } from 'node:perf_hooks';
import { noOutcomes, type Outcome, type OutcomeCounts, outcomes, type RowResult } from '../domain.ts';
import type { RateHistory } from './rate-history.ts';
import { messageOf } from './report-columns.ts';

/** What a summary says about the run and the report itself can't know. */
export interface RunFacts {
  readonly id: string;
  readonly state: string;
  readonly manifest: {
    /** What the user called it. */
    readonly name: string;
    readonly sha256: string;
    /** Rows that `--where` has left out. */
    readonly leftOut?: number | undefined;
  };
  /** ISO 8601 UTC; absent when the run never started. */
  readonly startedAt?: string;
  /** ISO 8601 UTC; absent while it goes on. */
  readonly finishedAt?: string;
  /** How long the run was at work, milliseconds; the time between a stop and a resume does not count. */
  readonly activeMs: number;
  /** How fast the API could be called; absent when nothing was noted of it. */
  readonly rate?: RunRate;
  /** The run whose rows this one repeats, if so. */
  readonly retryOf?: string;
  /** Runs whose results are among those that are added up. */
  readonly retries?: readonly string[];
}

/** How fast the API could be called during a run. */
export type RunRate = Pick<RateHistory, 'wanted' | 'limit_per_s' | 'waited_s' | 'rejected' | 'series'>;

/** The content of summary.json: integers, but for rates; what is not known is `null`. */
export interface RunSummary {
  readonly version: 1;
  readonly run: string;
  readonly state: string;
  readonly manifest: {
    readonly name: string;
    readonly sha256: string;
    readonly rows: number;
    /** Those that `--where` has left out; they are not among `rows`. */
    readonly left_out?: number;
  };
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly duration_s: number;
  readonly outcomes: OutcomeCounts;
  /** In order of first appearance; the name is empty for rows that say no known one. */
  readonly operations: readonly { readonly operation: string; readonly outcomes: OutcomeCounts }[];
  /** By outcome in their usual order, then the most frequent first. */
  readonly codes: readonly CodeTally[];
  readonly unclear: number;
  readonly attempts: number;
  readonly unprocessed: number;
  /** Rows called for each second of `duration_s`, to two decimals. */
  readonly rows_per_s: number | null;
  readonly latency_ms: LatencySummary | null;
  readonly rate: RunRate | null;
  readonly retry_of: string | null;
  /** The retries of which the report tells, too. */
  readonly retries: readonly string[];
}

/** The rows that ended with one outcome and code, with the first of them in manifest order as an example. */
interface CodeTally {
  readonly outcome: Outcome;
  readonly code: string;
  readonly count: number;
  readonly message: string;
  readonly row: number;
}

/** Milliseconds that the given share of the durations did not exceed; whole numbers, `max` is exact. */
interface LatencySummary {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Adds up the lines of the report, in memory that depends on how many operations and codes there are. */
export class Tally {
  #rows = 0;
  /** Rows for which at least one request was made. */
  #called = 0;
  #unclear = 0;
  #attempts = 0;
  /** Requests among them that surely were not processed. */
  #unprocessed = 0;
  readonly #outcomes = noOutcomes();
  readonly #operations = new Map<string, Record<Outcome, number>>();
  readonly #codes = new Map<string, { -readonly [Key in keyof CodeTally]: CodeTally[Key] }>();
  readonly #latency = new LatencyHistogram();

  add(result: RowResult): void {
    const { outcome, code, operation, attempts, durationMs } = result;
    this.#rows++;
    this.#attempts += attempts;
    this.#unprocessed += result.unprocessed ?? 0;
    if (attempts > 0) this.#called++;
    if (result.unclear) this.#unclear++;
    if (durationMs !== undefined) this.#latency.add(durationMs);
    this.#outcomes[outcome]++;

    const counts = this.#operations.get(operation) ?? noOutcomes();
    counts[outcome]++;
    this.#operations.set(operation, counts);

    const key = `${outcome} ${code}`;
    const known = this.#codes.get(key);
    if (known !== undefined) known.count++;
    else this.#codes.set(key, { outcome, code, count: 1, message: messageOf(result), row: result.row });
  }

  /** What all lines that were added come to. */
  summary(run: RunFacts): RunSummary {
    return {
      version: 1,
      run: run.id,
      state: run.state,
      manifest: {
        name: run.manifest.name,
        sha256: run.manifest.sha256,
        rows: this.#rows,
        ...(run.manifest.leftOut !== undefined && { left_out: run.manifest.leftOut }),
      },
      started_at: run.startedAt ?? null,
      finished_at: run.finishedAt ?? null,
      duration_s: Math.round(run.activeMs / 1000),
      outcomes: this.#outcomes,
      operations: [...this.#operations].map(([operation, counts]) => ({ operation, outcomes: counts })),
      codes: [...this.#codes.values()].toSorted(
        (a, b) =>
          outcomes.indexOf(a.outcome) - outcomes.indexOf(b.outcome) || b.count - a.count || a.row - b.row,
      ),
      unclear: this.#unclear,
      attempts: this.#attempts,
      unprocessed: this.#unprocessed,
      rows_per_s: run.activeMs > 0 ? Math.round((this.#called * 100_000) / run.activeMs) / 100 : null,
      latency_ms: this.#latency.summary() ?? null,
      rate: run.rate ?? null,
      retry_of: run.retryOf ?? null,
      retries: run.retries ?? [],
    };
  }
}

/** A little more than 49 days; longer durations count as this. */
const longest = 2 ** 32 - 1;

/** Counts durations in fixed memory (27 KB), however many there are: exactly below 255 ms, others at most 0.8 % off. */
export class LatencyHistogram {
  /** Of durations and one: it can't hold 0. */
  readonly #histogram = createHistogram({ lowest: 1, highest: longest + 1, figures: 2 });
  #max = 0;

  /** `durationMs` is rounded; less than 0 counts as 0. */
  add(durationMs: number): void {
    const ms = Math.min(Math.max(Math.round(durationMs), 0), longest);
    this.#histogram.record(ms + 1);
    if (ms > this.#max) this.#max = ms;
  }

  /** Undefined when nothing was counted. */
  summary(): LatencySummary | undefined {
    const { count } = this.#histogram;
    const max = this.#max;
    if (count === 0) return undefined;
    // The histogram rounds the rank of a percentile to the nearest, where the next higher one is meant.
    const percentile = (share: number): number =>
      Math.min(this.#histogram.percentile((Math.ceil(count * share) / count) * 100) - 1, max);
    return { p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), max };
  }
}
