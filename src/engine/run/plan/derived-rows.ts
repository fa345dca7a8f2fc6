import type { EntryLists } from '../../list/entry-lists.ts';
import { comparedLists, ListComparer } from '../../list/list-comparer.ts';
import { isOldName } from '../../operation/field-names.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { CallableRow, CellTexts, DecidedRow } from '../../rows/row.ts';
import { sumOf } from '../../rows/row-counts.ts';
import { DecidedRows } from '../../rows/rows-summary.ts';
import { type HeadFacts, RowsWriter } from '../../rows/rows-writer.ts';
import type { RunOptions, RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { ChangeFile } from './change-file.ts';
import { type PlannedRows, plannedRows, planOrigin } from './planned-rows.ts';
import { problemCollector } from './problem-file.ts';

export interface DerivedRowsInput {
  readonly options: RunOptions;
  readonly path: string;
  /** The lists of the service, if the rows are compared. */
  readonly lists?: EntryLists | undefined;
}

const overwritingAdvice = 'look at the entry; to overwrite it, run the row again from failed.csv';

function decidedRow(row: CallableRow, comparer: ListComparer | undefined): DecidedRow {
  const compared = comparer?.compare(row);
  if (compared === undefined) return row;
  if (compared.kind === 'misfit') {
    const { line, operation } = row;
    // The manifest need not have a column for the old value, which the run has compared.
    const { column = '', problem } = compared.problem;
    const problems = [isOldName(column) ? { problem } : compared.problem];
    return { kind: 'invalid', row: row.row, line, operation, problems };
  }
  if (!compared.isAsWanted) return compared.row;
  const { requestDigest: _, unclear: __, key: ___, ...call } = row;
  return { ...call, kind: 'left out', because: { why: 'as wanted' } };
}

/** Rows of another run, with their numbers in the user's manifest. */
export class DerivedRows {
  readonly #writer: RowsWriter;
  readonly #decided = new DecidedRows();
  readonly #changes: ChangeFile;
  readonly #problems: ReturnType<typeof problemCollector>;
  readonly #lists: EntryLists | undefined;
  readonly #comparer: ListComparer | undefined;

  constructor(
    { operations, stateDir }: Pick<RunStore, 'operations' | 'stateDir'>,
    { id, rows }: Pick<RunRecord, 'id' | 'rows'>,
    { path, lists }: DerivedRowsInput,
  ) {
    const noted = { stateDir, name: id, sha256Of: async () => rows.sha256 };
    this.#writer = new RowsWriter(path);
    this.#problems = problemCollector(noted);
    this.#changes = new ChangeFile(noted);
    this.#lists = lists;
    this.#comparer = lists && new ListComparer(lists, operations, overwritingAdvice);
  }

  /**
   * Leaves the row out if a comparison shows that it must not be called, or changes nothing.
   *
   * @param row needs no digest of its request if the rows are compared
   */
  async add(row: CallableRow, cells: CellTexts): Promise<void> {
    await this.#comparer?.begin(row.operation.name);
    return this.#add(decidedRow(row, this.#comparer), cells);
  }

  async #add(row: DecidedRow, cells: CellTexts): Promise<void> {
    this.#decided.add(row);
    if (row.kind === 'invalid') await this.#problems.add(row);
    await this.#changes.add(row);
    await this.#writer.add(row, cells);
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
        // In the order of the schema: a plan file is refused if it is not as it would be written again.
        ...(this.#lists && { compared: comparedLists(this.#lists) }),
        derived: { as, of: run },
        warnings: [],
        operation_source: 'column',
        ...planOrigin(options, { skip_invalid: false, allow_partial: counts.partial > 0 }),
      },
      summary.perOperation,
    );
    return plannedRows(written, summary, await this.#problems.end(), await this.#changes.end());
  }

  discard(): Promise<void> {
    return this.#writer.discard();
  }
}
