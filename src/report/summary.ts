import type { LatencySummary } from './latency.ts';
import type { CodeTally, OutcomeCounts, Tally } from './tally.ts';

/** What a summary says about the run and the report itself can't know. */
export interface RunFacts {
  readonly id: string;
  readonly state: string;
  readonly manifest: {
    /** What the user called it. */
    readonly name: string;
    readonly sha256: string;
  };
  /** ISO 8601 UTC; absent when the run never started. */
  readonly startedAt?: string;
  /** ISO 8601 UTC; absent while it goes on. */
  readonly finishedAt?: string;
  /** How long the run was at work, milliseconds; the time between a stop and a resume does not count. */
  readonly activeMs: number;
  /** How fast the API could be called; absent when nothing was noted of it. */
  readonly rate?: RunRate;
}

/** How fast the API could be called during a run. */
export interface RunRate {
  /** As the user wanted it: `auto`, `auto..50/s`, `50/s`, `none`. */
  readonly wanted: string;
  /** The limit of the API as it was known last, calls per second. */
  readonly limit_per_s: number | null;
  /** Seconds in which no call could be made. */
  readonly waited_s: number;
  /** Calls that the API rejected because they were too many. */
  readonly rejected: number;
  /** A point a second at most, fewer in long runs; each tells of the time since the one before. */
  readonly series: readonly {
    /** Seconds at work since the run was first started. */
    readonly t_s: number;
    readonly allowed_per_s: number | null;
    readonly accepted_per_s: number;
    readonly rejected: number;
  }[];
}

/** The content of summary.json: integers, but for rates; what is not known is `null`. */
export interface RunSummary {
  readonly version: 1;
  readonly run: string;
  readonly state: string;
  readonly manifest: { readonly name: string; readonly sha256: string; readonly rows: number };
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly duration_s: number;
  readonly outcomes: OutcomeCounts;
  readonly operations: readonly { readonly operation: string; readonly outcomes: OutcomeCounts }[];
  readonly codes: readonly CodeTally[];
  readonly unclear: number;
  readonly attempts: number;
  readonly unprocessed: number;
  /** Rows called for each second of `duration_s`, to two decimals. */
  readonly rows_per_s: number | null;
  readonly latency_ms: LatencySummary | null;
  readonly rate: RunRate | null;
}

export function summarize(run: RunFacts, tally: Tally): RunSummary {
  return {
    version: 1,
    run: run.id,
    state: run.state,
    manifest: { name: run.manifest.name, sha256: run.manifest.sha256, rows: tally.rows },
    started_at: run.startedAt ?? null,
    finished_at: run.finishedAt ?? null,
    duration_s: Math.round(run.activeMs / 1000),
    outcomes: tally.outcomes,
    operations: tally.operations,
    codes: tally.codes,
    unclear: tally.unclear,
    attempts: tally.attempts,
    unprocessed: tally.unprocessed,
    rows_per_s: run.activeMs > 0 ? Math.round((tally.called * 100_000) / run.activeMs) / 100 : null,
    latency_ms: tally.latency ?? null,
    rate: run.rate ?? null,
  };
}
