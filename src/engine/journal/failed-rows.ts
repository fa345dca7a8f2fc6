import { showsDamage } from '../../domain/codes.ts';
import type { RowResult } from '../../domain/row-result.ts';

/** Rows that failed with one code. */
export interface FailedRows {
  readonly code: string;
  readonly rows: number;
  readonly example: RowResult;
}

export class FailureCodes extends Map<string, FailedRows> {
  add(result: RowResult): void {
    const { code } = result;
    const { rows, example } = this.get(code) ?? { rows: 0, example: result };
    this.set(code, { code, rows: rows + 1, example });
  }

  /** The rows that failed with the most frequent code, the earliest of equals. The map must not be empty. */
  get mostFrequent(): FailedRows {
    return [...this.values()].reduce((most, failed) => (failed.rows > most.rows ? failed : most));
  }
}

export interface FailureSummary {
  readonly failed: number;
  /** The latest failures, all with one code; the example is the latest row. */
  readonly latest: FailedRows;
  /** Failures with the most frequent code; the example is the first row. */
  readonly mostFrequent: FailedRows;
}

/** Failures of called rows, for the guards, in the order in which rows finished. */
export class FailureTally {
  /** `resume`: rows that were called before a user resumed the halted run do not count. */
  readonly since: 'start' | 'resume';
  finished = 0;
  failed = 0;
  codes = new FailureCodes();
  /** The first row whose answer is about another entry. */
  damage: RowResult | undefined;
  #latest: FailedRows | undefined;

  constructor(since: 'start' | 'resume' = 'start') {
    this.since = since;
  }

  get summary(): FailureSummary | undefined {
    const last = this.#latest;
    return last && { failed: this.failed, latest: last, mostFrequent: this.codes.mostFrequent };
  }

  /** @returns whether the row counts for the guards */
  add(result: RowResult): boolean {
    const { outcome, code } = result;
    // A row with the code `CHANGED_SINCE` was not called: the service has refused nothing.
    if (code === 'CHANGED_SINCE') return false;
    if (outcome !== 'succeeded' && outcome !== 'failed') return false;
    if (outcome === 'failed') {
      this.failed += 1;
      this.codes.add(result);
      if (showsDamage(code)) this.damage ??= result;
      this.#latest = { code, rows: this.#latest?.code === code ? this.#latest.rows + 1 : 1, example: result };
    }
    this.finished += 1;
    return true;
  }

  copy(): FailureTally {
    const copy = Object.assign(new FailureTally(this.since), this, { codes: new FailureCodes(this.codes) });
    copy.#latest = this.#latest;
    return copy;
  }
}
