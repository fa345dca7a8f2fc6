import { type Outcome, outcomes, type RowResult } from '../domain.ts';
import { LatencyHistogram, type LatencySummary } from './latency.ts';
import { messageOf } from './result-cells.ts';

export type OutcomeCounts = Readonly<Record<Outcome, number>>;

/** The rows that ended with one outcome and code, with the first of them in manifest order as an example. */
export interface CodeTally {
  readonly outcome: Outcome;
  readonly code: string;
  readonly count: number;
  readonly message: string;
  readonly row: number;
}

/** Adds up the lines of the report, in memory that depends on how many operations and codes there are. */
export class Tally {
  rows = 0;
  /** Rows for which at least one request was made. */
  called = 0;
  unclear = 0;
  attempts = 0;
  /** Requests among them that surely were not processed. */
  unprocessed = 0;
  readonly outcomes: Record<Outcome, number> = noRows();
  readonly #operations = new Map<string, Record<Outcome, number>>();
  readonly #codes = new Map<string, { -readonly [Key in keyof CodeTally]: CodeTally[Key] }>();
  readonly #latency = new LatencyHistogram();

  add(result: RowResult): void {
    const { outcome, code, operation, attempts, durationMs } = result;
    this.rows++;
    this.attempts += attempts;
    this.unprocessed += result.unprocessed ?? 0;
    if (attempts > 0) this.called++;
    if (result.unclear) this.unclear++;
    if (durationMs !== undefined) this.#latency.add(durationMs);
    this.outcomes[outcome]++;

    const counts = this.#operations.get(operation) ?? noRows();
    counts[outcome]++;
    this.#operations.set(operation, counts);

    const key = `${outcome} ${code}`;
    const known = this.#codes.get(key);
    if (known !== undefined) known.count++;
    else this.#codes.set(key, { outcome, code, count: 1, message: messageOf(result), row: result.row });
  }

  /** By operation, in order of first appearance; the name is empty for rows that say no known one. */
  get operations(): readonly { readonly operation: string; readonly outcomes: OutcomeCounts }[] {
    return [...this.#operations].map(([operation, counts]) => ({ operation, outcomes: counts }));
  }

  /** By outcome in their usual order, then the most frequent first. */
  get codes(): readonly CodeTally[] {
    return [...this.#codes.values()].toSorted(
      (a, b) =>
        outcomes.indexOf(a.outcome) - outcomes.indexOf(b.outcome) || b.count - a.count || a.row - b.row,
    );
  }

  get latency(): LatencySummary | undefined {
    return this.#latency.summary();
  }
}

function noRows(): Record<Outcome, number> {
  return { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, not_attempted: 0 };
}
