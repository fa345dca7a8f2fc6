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

  /** The most frequent code, the earliest of equals. The map must not be empty. */
  get most(): FailedRows {
    return [...this.values()].reduce((most, failed) => (failed.rows > most.rows ? failed : most));
  }
}

export interface FailuresInShort {
  readonly failed: number;
  /** The latest failures, all with one code; the example is the latest row. */
  readonly last: FailedRows;
  /** Failures with the most frequent code; the example is the first row. */
  readonly most: FailedRows;
}

/** Failures of called rows, for the guards, in the order in which rows finished. */
export class FailureTally {
  finished = 0;
  failed = 0;
  /** The highest `inARow` so far. */
  mostInARow = 0;
  inARow = 0;
  /** How many rows from the first on all failed with `firstCode`. */
  alike = 0;
  firstCode = '';
  codes = new FailureCodes();
  /** The first row whose answer is about another entry. */
  damage: RowResult | undefined;
  #last: FailedRows | undefined;

  get inShort(): FailuresInShort | undefined {
    const last = this.#last;
    return last && { failed: this.failed, last, most: this.codes.most };
  }

  /** @returns whether the row counts */
  add(result: RowResult): boolean {
    const { outcome, code } = result;
    // The service has refused nothing.
    if (code === 'CHANGED_SINCE') return false;
    if (outcome !== 'succeeded' && outcome !== 'failed') return false;
    if (outcome === 'failed') {
      this.failed += 1;
      this.inARow += 1;
      this.mostInARow = Math.max(this.mostInARow, this.inARow);
      this.codes.add(result);
      if (showsDamage(code)) this.damage ??= result;
      this.#last = { code, rows: this.#last?.code === code ? this.#last.rows + 1 : 1, example: result };
      if (this.finished === 0) this.firstCode = code;
      if (this.alike === this.finished && code === this.firstCode) this.alike += 1;
    } else this.inARow = 0;
    this.finished += 1;
    return true;
  }

  copy(): FailureTally {
    const copy = Object.assign(new FailureTally(), this, { codes: new FailureCodes(this.codes) });
    copy.#last = this.#last;
    return copy;
  }
}
