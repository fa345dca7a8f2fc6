import type { Operation } from '../operation/operation.ts';
import type { Field, Row } from '../operation/row-fields.ts';
import type { RowProblem } from './problem.ts';

/** What a run stores of an operation, to show and repeat its calls without the program that defines it. */
export type PlannedOperation = Pick<
  Operation,
  'name' | 'thing' | 'done' | 'subject' | 'columns' | 'mayReset' | 'key' | 'auth' | 'module'
> & { readonly fields: readonly Pick<Field, 'name' | 'required' | 'undoable'>[] };

/** Keys are fields. */
export type OldValues = Readonly<Record<string, string>>;

export interface UnderstoodRow {
  /** The number in the user's manifest. */
  readonly row: number;
  /** The line where the row begins in the manifest, or the row of the sheet, from 1. */
  readonly line: number;
  readonly operation: PlannedOperation;
  readonly subject: string;
  /** Keys are fields; omitted fields are absent. */
  readonly values: Row;
  readonly old?: OldValues;
  /** The row was compared with its entry: `values` are the whole entry, `old` has what the row changes of it. */
  readonly compared?: true;
}

export interface CallableRow extends UnderstoodRow {
  readonly kind: 'callable';
  /** Of the request that the operation makes of the values. */
  readonly requestDigest: string;
  /** An earlier run called the row and got no usable answer. */
  readonly unclear?: true;
  /** The `Idempotency-Key` of that call. */
  readonly key?: string;
}

export interface InvalidRow {
  readonly kind: 'invalid';
  readonly row: number;
  readonly line: number;
  readonly operation?: PlannedOperation | undefined;
  /** At least one. */
  readonly problems: readonly RowProblem[];
}

export interface DoneBefore {
  /** The run or report, as shown to users. */
  readonly source: string;
  readonly row: number;
}

/** Why a row that can be called is not called. Numbers are those in the user's manifest. */
export type LeftOut =
  | { readonly why: 'duplicate'; readonly of: number }
  | { readonly why: 'superseded'; readonly by: number }
  /** Its entry was listed as the row wants it. */
  | { readonly why: 'as wanted' }
  | { readonly why: 'done'; readonly before: DoneBefore };

export interface LeftOutRow extends UnderstoodRow {
  readonly kind: 'left out';
  readonly because: LeftOut;
}

export type DecidedRow = CallableRow | InvalidRow | LeftOutRow;

/** In the order of the columns. Null: the cell is absent. Empty: it clears its field. */
export type CellTexts = readonly (string | null)[];

/** A line of `rows.jsonl`. */
export type PlannedRow = DecidedRow & {
  /** From 1. Queue and journal name rows by their places. */
  readonly place: number;
  /** Missing cells at the end are absent. */
  readonly cells: CellTexts;
};
