import type { CallableRow, DecidedRow, PlannedOperation } from './row.ts';
import { type OperationSummary, type RowCounts, RowTally, sumOf } from './row-counts.ts';

/** How many rows of each operation a preview has. */
const previewedRows = 10;

export interface SummarizedRows extends RowCounts {
  /** Counts by operation. Rows without a known operation are omitted. */
  readonly perOperation: Readonly<Record<string, OperationSummary>>;
  /** How many rows were done before, by run or report. */
  readonly doneIn: ReadonlyMap<string, number>;
  /** The first rows of each operation, in their order. */
  readonly preview: readonly CallableRow[];
}

const leftOutCounts = { duplicate: 'duplicates', superseded: 'superseded', 'as wanted': 'asWanted' } as const;

/** Counts rows by operation. Memory depends on the number of operations only. */
export class RowsSummary {
  readonly #unknown = new RowTally();
  readonly #tallies = new Map<string, RowTally>();
  readonly #preview: CallableRow[] = [];
  readonly #doneIn = new Map<string, number>();

  /** @param isConflict whether an earlier callable row has the same subject */
  add(row: DecidedRow, isConflict: boolean): void {
    const tally = this.#tallyOf(row.operation);
    if (row.kind === 'invalid') tally.count('invalid');
    else if (row.kind === 'callable') {
      tally.countCallable(row, isConflict);
      if (tally.counts.callable <= previewedRows) this.#preview.push(row);
    } else if (row.because.why === 'done') {
      const { source } = row.because.before;
      tally.count('doneBefore');
      this.#doneIn.set(source, (this.#doneIn.get(source) ?? 0) + 1);
    } else tally.count(leftOutCounts[row.because.why]);
  }

  summary(): SummarizedRows {
    return {
      ...sumOf([...this.#tallies.values(), this.#unknown].map((tally) => tally.counts)),
      perOperation: Object.fromEntries([...this.#tallies].map(([name, tally]) => [name, tally.summary()])),
      doneIn: this.#doneIn,
      preview: this.#preview,
    };
  }

  #tallyOf(operation: PlannedOperation | undefined): RowTally {
    if (operation === undefined) return this.#unknown;
    const existing = this.#tallies.get(operation.name);
    if (existing !== undefined) return existing;
    const tally = new RowTally(operation);
    this.#tallies.set(operation.name, tally);
    return tally;
  }
}
