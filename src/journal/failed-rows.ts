import type { RowResult } from '../domain.ts';

/** Rows that have failed with one code, and the first of them. */
export interface FailedRows {
  readonly code: string;
  readonly rows: number;
  readonly example: RowResult;
}

/** The codes with which rows have failed. */
export class FailureCodes {
  readonly #codes: Map<string, FailedRows>;

  constructor(codes: ReadonlyMap<string, FailedRows> = new Map()) {
    this.#codes = new Map(codes);
  }

  add(result: RowResult): void {
    const { code } = result;
    const { rows, example } = this.#codes.get(code) ?? { rows: 0, example: result };
    this.#codes.set(code, { code, rows: rows + 1, example });
  }

  clear(): void {
    this.#codes.clear();
  }

  copy(): FailureCodes {
    return new FailureCodes(this.#codes);
  }

  /** The one with which most have failed, the first of these. There must be one. */
  get most(): FailedRows {
    let most: FailedRows | undefined;
    for (const failed of this.#codes.values()) if (failed.rows > (most?.rows ?? 0)) most = failed;
    if (most === undefined) throw new TypeError('Nothing has failed.');
    return most;
  }
}

/** What the guards of a run go by, in the order in which rows finished. Only rows that were called count. */
export class FailureTally {
  finished = 0;
  failed = 0;
  /** How many rows have failed without one that succeeded between them: the most, and the latest. */
  mostInARow = 0;
  #inARow = 0;
  /** How many of the first rows have all failed with one code, and that code. */
  alike = 0;
  firstCode = '';
  readonly codes: FailureCodes;

  constructor(codes: FailureCodes = new FailureCodes()) {
    this.codes = codes;
  }

  /** @returns whether the row counts */
  add(result: RowResult): boolean {
    const { outcome } = result;
    if (outcome !== 'succeeded' && outcome !== 'failed') return false;
    if (outcome === 'failed') {
      this.failed += 1;
      this.#inARow += 1;
      this.mostInARow = Math.max(this.mostInARow, this.#inARow);
      this.codes.add(result);
      if (this.finished === 0) this.firstCode = result.code;
      if (this.alike === this.finished && result.code === this.firstCode) this.alike += 1;
    } else this.#inARow = 0;
    this.finished += 1;
    return true;
  }

  clear(): void {
    this.finished = 0;
    this.failed = 0;
    this.mostInARow = 0;
    this.#inARow = 0;
    this.alike = 0;
    this.codes.clear();
  }

  copy(): FailureTally {
    const { finished, failed, mostInARow, alike, firstCode } = this;
    const copy = new FailureTally(this.codes.copy());
    copy.#inARow = this.#inARow;
    return Object.assign(copy, { finished, failed, mostInARow, alike, firstCode });
  }
}
