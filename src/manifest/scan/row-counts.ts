/** Row counts. Each row is exactly one of callable, invalid and duplicate. */
export interface RowCounts {
  readonly rows: number;
  /** Rows to be called: valid, and not identical to an earlier one. */
  readonly callable: number;
  readonly invalid: number;
  /** Rows whose request is that of an earlier row. */
  readonly duplicates: number;
  /** Callable rows that act on the same subject as an earlier row, with another request. */
  readonly conflicts: number;
  /** Callable rows that leave out fields which the service might reset. */
  readonly partial: number;
}

/** Counts rows in all and by operation. */
export class RowTally {
  readonly total: MutableCounts = noRows();
  readonly #byOperation = new Map<string, MutableCounts>();

  get perOperation(): Readonly<Record<string, RowCounts>> {
    return Object.fromEntries(this.#byOperation);
  }

  /** @param operation undefined for a row that says no known one: it counts in the total only. */
  add(operation: string | undefined, what: Partial<RowCounts>): void {
    increase(this.total, what);
    if (operation === undefined) return;
    const counts = this.#byOperation.get(operation) ?? noRows();
    this.#byOperation.set(operation, counts);
    increase(counts, what);
  }
}

type MutableCounts = { -readonly [Name in keyof RowCounts]: RowCounts[Name] };

function noRows(): MutableCounts {
  return { rows: 0, callable: 0, invalid: 0, duplicates: 0, conflicts: 0, partial: 0 };
}

function increase(counts: MutableCounts, by: Partial<RowCounts>): void {
  counts.rows++;
  counts.callable += by.callable ?? 0;
  counts.invalid += by.invalid ?? 0;
  counts.duplicates += by.duplicates ?? 0;
  counts.conflicts += by.conflicts ?? 0;
  counts.partial += by.partial ?? 0;
}
