import type { EntryLists } from '../../list/entry-lists.ts';
import { comparedLists, ListComparer } from '../../list/list-comparer.ts';
import { isOldName } from '../../operation/field-names.ts';
import type { RowsHead } from '../../rows/head.ts';
import type { Overflow } from '../../rows/record-pages.ts';
import type { CallableRow, CellTexts, DecidedRow } from '../../rows/row.ts';
import type { HeadFacts } from '../../rows/rows-writer.ts';
import type { SubjectIndex } from '../../rows/subject-index.ts';
import type { RunOptions, RunRecord } from '../record/record.ts';
import type { RunStore } from '../record/store.ts';
import { DecidedRowsWriter, type PlannedRows, planOrigin } from './planned-rows.ts';

export interface DerivedRowsInput {
  readonly options: RunOptions;
  readonly path: string;
  /** The lists of the service, if the rows are compared. */
  readonly lists?: EntryLists | undefined;
  /** For what finds rows with the same subject. Default: in the state folder. */
  readonly overflow?: Overflow;
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
  readonly #writer: DecidedRowsWriter;
  readonly #lists: EntryLists | undefined;
  readonly #comparer: ListComparer | undefined;

  /** @param subjects as for `DecidedRowsWriter` */
  constructor(
    { operations, stateDir }: Pick<RunStore, 'operations' | 'stateDir'>,
    { id, rows }: Pick<RunRecord, 'id' | 'rows'>,
    { path, lists }: DerivedRowsInput,
    subjects?: SubjectIndex,
  ) {
    const noted = { stateDir, name: id, sha256Of: async () => rows.sha256 };
    this.#writer = new DecidedRowsWriter(path, noted, subjects);
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
    return this.#writer.add(decidedRow(row, this.#comparer), cells);
  }

  /**
   * @param of the head of the other run
   * @param facts what differs from that head
   */
  end({
    of: { source, reading, clear_token, columns, defaults },
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
    return this.#writer.end(({ partial }) => ({
      source,
      reading,
      clear_token,
      columns,
      defaults,
      ...facts,
      left_out: 0,
      derived: { as, of: run },
      ...(this.#lists && { compared: comparedLists(this.#lists) }),
      warnings: [],
      operation_source: 'column',
      ...planOrigin(options, { skip_invalid: false, allow_partial: partial > 0 }),
    }));
  }

  discard(): Promise<void> {
    return this.#writer.discard();
  }
}
