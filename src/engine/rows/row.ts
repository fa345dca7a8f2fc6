import type { Operation } from '../operation/operation.ts';
import type { Field, Row } from '../operation/row-fields.ts';
import type { RowProblem } from './problem.ts';

/** What a run stores of an operation, to show and repeat its calls without the program that defines it. */
export type PlannedOperation = Pick<
  Operation,
  'name' | 'thing' | 'done' | 'subject' | 'columns' | 'mayReset' | 'key' | 'auth' | 'module'
> & { readonly fields: readonly Pick<Field, 'name' | 'required' | 'undoable'>[] };

/** Values of an entry before the row's change, by field. */
export type OldValues = Readonly<Record<string, string>>;

export interface UnderstoodRow {
  /** The number in the user's manifest. */
  readonly row: number;
  /** The line where the row begins in the manifest, or the row of the sheet, from 1. */
  readonly line: number;
  readonly operation: PlannedOperation;
  readonly subject: string;
  /** Values by field. Omitted fields are absent. */
  readonly values: Row;
  readonly old?: OldValues;
  /** Set if the row was compared with its entry: `values` are the whole entry, `old` has what the row changes of it. */
  readonly compared?: true;
}

export interface CallableRow extends UnderstoodRow {
  readonly kind: 'callable';
  /** The digest of the request that the operation makes of the values. */
  readonly requestDigest: string;
  /** Set if an earlier run called the row and got no usable answer. */
  readonly unclear?: true;
  /** The `Idempotency-Key` of the earlier run's call. */
  readonly key?: string;
}

export interface InvalidRow {
  readonly kind: 'invalid';
  readonly row: number;
  readonly line: number;
  readonly operation?: PlannedOperation | undefined;
  /** The problems of the row, at least one. */
  readonly problems: readonly RowProblem[];
}

export interface DoneBefore {
  /** The run or report with the done row, as shown to users. */
  readonly source: string;
  readonly row: number;
}

/** Why a row that can be called is not called. Numbers are those in the user's manifest. */
export type LeftOut =
  | { readonly why: 'duplicate'; readonly of: number }
  | { readonly why: 'superseded'; readonly by: number }
  /** `as wanted`: the row's entry was listed as the row wants it. */
  | { readonly why: 'as wanted' }
  | { readonly why: 'done'; readonly before: DoneBefore };

export interface LeftOutRow extends UnderstoodRow {
  readonly kind: 'left out';
  readonly because: LeftOut;
}

export type DecidedRow = CallableRow | InvalidRow | LeftOutRow;

/** The cells of a row, in the order of the columns. Null: the cell is absent. Empty: the cell clears its field. */
export type CellTexts = readonly (string | null)[];

/** A line of `rows.jsonl`. */
export type PlannedRow = DecidedRow & {
  /** The row's place in `rows.jsonl`, from 1. Queue and journal name rows by their places. */
  readonly place: number;
  /** The texts of the row's cells. Cells missing at the end are absent. */
  readonly cells: CellTexts;
};
