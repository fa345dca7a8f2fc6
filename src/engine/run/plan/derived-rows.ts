import type { RowsHead } from '../../rows/head.ts';
import type { CallableRow, CellTexts } from '../../rows/row.ts';
import { sumOf } from '../../rows/row-counts.ts';
import { DecidedRows } from '../../rows/rows-summary.ts';
import { type HeadFacts, RowsWriter } from '../../rows/rows-writer.ts';
import type { RunOptions } from '../record/record.ts';
import { madeNow, type PlannedRows, plannedRows } from './planned-rows.ts';

export interface DerivedRowsInput {
  readonly options: RunOptions;
  readonly path: string;
}

/** Rows of another run, with their numbers in the user's manifest. */
export class DerivedRows {
  readonly #writer: RowsWriter;
  readonly #decided = new DecidedRows();

  constructor(path: string) {
    this.#writer = new RowsWriter(path);
  }

  get count(): number {
    return this.#writer.rows;
  }

  add(row: CallableRow, cells: CellTexts): Promise<void> | undefined {
    this.#decided.add(row);
    return this.#writer.add(row, cells);
  }

  /**
   * @param of the head of the other run
   * @param facts what differs from that head
   */
  async end({
    of,
    as,
    run,
    options,
    ...facts
  }: {
    readonly of: RowsHead;
    readonly as: 'retry' | 'undo';
    readonly run: string;
    readonly options: RunOptions;
  } & Partial<HeadFacts>): Promise<PlannedRows> {
    const summary = this.#decided.summary();
    const counts = sumOf([summary]);
    const { source, reading, clear_token, columns, defaults } = of;
    const written = await this.#writer.end(
      {
        source,
        reading,
        clear_token,
        columns,
        defaults,
        ...facts,
        counts,
        left_out: 0,
        derived: { as, of: run },
        warnings: [],
        operation_source: 'column',
        ...madeNow(options, { skip_invalid: false, allow_partial: counts.partial > 0 }),
      },
      summary.perOperation,
    );
    return plannedRows(written, summary, { groups: [], first: [], count: 0, firstConflicts: [] });
  }

  discard(): Promise<void> {
    return this.#writer.discard();
  }
}
