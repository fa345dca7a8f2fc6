import type { RowProblem } from '../../rows/problem.ts';
import type { CallableRow, InvalidRow } from '../../rows/row.ts';
import type { PreparedCall, RowPreparer } from '../columns/row-preparer.ts';
import { withLetters } from '../columns/row-problems.ts';
import type { Manifest } from '../manifest.ts';

/** A row after a look at its entry. */
export type ComparedRow<Row> =
  | {
      readonly kind: 'fits';
      /** The row: its values are the whole entry as it will be, its old values what changes of it. */
      readonly row: Row;
      /** Whether the entry is already as the row wants, so nothing changes. */
      readonly isAsWanted: boolean;
    }
  /** A row that must not be called. The column of its problem is the name of a field, or of its old value. */
  | { readonly kind: 'misfit'; readonly problem: RowProblem };

/** Compares rows with what the service lists. */
export interface RowComparer {
  /** Prepares comparing rows of an operation. @returns a promise to wait for before the first of them is compared */
  readonly begin: (operation: string) => Promise<void> | undefined;
  /** Compares a row. Gives the same result for the same row. */
  readonly compare: <Row extends CallableRow>(row: Row) => ComparedRow<Row>;
  /** What the user must know of the lists and the rows. Call this after all rows. */
  readonly warnings: () => readonly {
    readonly code: 'LIST_UNSURE' | 'FIELD_COMPUTED';
    readonly message: string;
  }[];
}

export type ComparedCall = Extract<ComparedRow<PreparedCall>, { readonly kind: 'fits' }> | InvalidRow;

/** A call after the comparison. If the entry does not allow it, the problem is under the title of its column. */
export function comparedCall(
  row: PreparedCall,
  comparer: RowComparer | undefined,
  manifest: Pick<Manifest, 'columns' | 'lettersOf'>,
  { fieldOf }: RowPreparer,
): ComparedCall {
  const compared = comparer?.compare(row) ?? { kind: 'fits', row, isAsWanted: false };
  if (compared.kind === 'fits') return compared;
  const { problem } = compared;
  const column = manifest.columns().find((each) => fieldOf(each) === problem.column) ?? problem.column;
  const shown: RowProblem = column === undefined ? problem : { ...problem, column };
  return {
    kind: 'invalid',
    row: row.row,
    line: row.line,
    operation: row.operation,
    problems: [withLetters(shown, manifest)],
  };
}
