import type { Delimiter } from '../../base/text/delimiter.ts';
import type { RowResult } from '../../domain/row-result.ts';
import { noOutcomes, type Outcome, type OutcomeCounts, outcomes } from '../../domain/terms.ts';
import { LatencyHistogram, type LatencySummary } from './latency.ts';
import type { RateHistory } from './rate-history.ts';
import { messageOf } from './report-columns.ts';

export type RunRate = Pick<
  RateHistory,
  'wanted' | 'limit_per_s' | 'waited_s' | 'rejected' | 'series' | 'starts'
>;

export const summaryFile = 'summary.json';

/** The content of summary.json. Numbers are integers, except rates; unknown values are `null`. */
export interface RunSummary {
  readonly version: 1;
  readonly run: string;
  readonly state: string;
  readonly manifest: {
    readonly name: string;
    readonly sha256: string;
    readonly rows: number;
    /** Rows left out by `--where`, in addition to `rows`. */
    readonly left_out?: number;
  };
  readonly started_at: string | null;
  readonly finished_at: string | null;
  /** The seconds of work, without the time between a stop and a resume. */
  readonly duration_s: number;
  readonly outcomes: OutcomeCounts;
  /** The outcomes of each operation, in order of first appearance. The name is empty for rows without a known operation. */
  readonly operations: readonly { readonly operation: string; readonly outcomes: OutcomeCounts }[];
  /** The counts by code, in the order of `outcomes`, then the most frequent first. */
  readonly codes: readonly CodeTally[];
  /** How many of `outcomes.succeeded` the API had as done before any attempt of the run. */
  readonly already_done: number;
  /** The number of rows that may have been processed though no usable answer came. */
  readonly unclear: number;
  /** The number of unclear rows that failed, which a retry can take. */
  readonly unclear_failed: number;
  /** The number of HTTP requests of all rows. */
  readonly attempts: number;
  /** How many of `attempts` certainly were not processed. */
  readonly unprocessed: number;
  /** The number of called rows per second of the duration, to two decimals. */
  readonly rows_per_s: number | null;
  readonly latency_ms: LatencySummary | null;
  readonly rate: RunRate | null;
  /** The id of the run whose rows this run calls again. */
  readonly retry_of: string | null;
  /** The ids of the retries whose results the report includes. */
  readonly retries: readonly string[];
  readonly delimiter: Delimiter;
  /** The SHA-256 of rows.jsonl, journal.jsonl and report.csv; null while the run is in progress. */
  readonly digests: { readonly rows: string; readonly journal: string; readonly report: string } | null;
}

/** The part of a summary that does not come from the lines of a report. */
export interface SummaryHead
  extends Pick<
    RunSummary,
    'run' | 'state' | 'started_at' | 'finished_at' | 'rate' | 'retry_of' | 'retries' | 'delimiter'
  > {
  readonly manifest: Omit<RunSummary['manifest'], 'rows'>;
  readonly digests: Omit<NonNullable<RunSummary['digests']>, 'report'> | null;
  readonly activeMs: number;
}

/** The rows with one outcome and code. Message and row number are from the first of them. */
interface CodeTally {
  readonly outcome: Outcome;
  readonly code: string;
  readonly count: number;
  /** How many of the rows with this code are unclear. */
  readonly unclear: number;
  /** For how many of the rows with this code the API was called. */
  readonly called: number;
  readonly message: string;
  readonly row: number;
}

/** The average rate of a run's calls, to two decimals. Undefined before the start. */
export function averageRate({ succeeded, failed }: OutcomeCounts, activeMs: number): number | undefined {
  return activeMs > 0 ? Math.round(((succeeded + failed) * 100_000) / activeMs) / 100 : undefined;
}

/** Counts the results of a run. Memory depends on the number of operations and codes. */
export class Tally {
  #rows = 0;
  #alreadyDone = 0;
  #unclear = 0;
  #unclearFailed = 0;
  #attempts = 0;
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
    if (code === 'ALREADY_APPLIED' && !result.unclear) this.#alreadyDone++;
    if (result.unclear) this.#unclear++;
    if (result.unclear && outcome === 'failed') this.#unclearFailed++;
    if (durationMs !== undefined) this.#latency.add(durationMs);
    this.#outcomes[outcome]++;

    const counts = this.#operations.get(operation) ?? noOutcomes();
    counts[outcome]++;
    this.#operations.set(operation, counts);

    const key = `${outcome} ${code}`;
    const existing = this.#codes.get(key);
    const tally = existing ?? {
      outcome,
      code,
      count: 0,
      unclear: 0,
      called: 0,
      message: messageOf(result),
      row: result.row,
    };
    tally.count++;
    if (result.unclear) tally.unclear++;
    if (attempts > 0) tally.called++;
    this.#codes.set(key, tally);
  }

  /** The summary of the run. @param report SHA-256 of report.csv; absent for a report without files */
  summary(facts: SummaryHead, report?: string): RunSummary {
    const {
      run,
      state,
      manifest,
      started_at,
      finished_at,
      activeMs,
      rate,
      retry_of,
      retries,
      delimiter,
      digests,
    } = facts;
    return {
      version: 1,
      run,
      state,
      manifest: { ...manifest, rows: this.#rows },
      started_at,
      finished_at,
      duration_s: Math.round(activeMs / 1000),
      outcomes: this.#outcomes,
      operations: [...this.#operations].map(([operation, counts]) => ({ operation, outcomes: counts })),
      codes: [...this.#codes.values()].toSorted(
        (a, b) =>
          outcomes.indexOf(a.outcome) - outcomes.indexOf(b.outcome) || b.count - a.count || a.row - b.row,
      ),
      already_done: this.#alreadyDone,
      unclear: this.#unclear,
      unclear_failed: this.#unclearFailed,
      attempts: this.#attempts,
      unprocessed: this.#unprocessed,
      rows_per_s: averageRate(this.#outcomes, activeMs) ?? null,
      latency_ms: this.#latency.summary() ?? null,
      rate,
      retry_of,
      retries,
      delimiter,
      digests: report === undefined ? null : digests && { ...digests, report },
    };
  }
}
