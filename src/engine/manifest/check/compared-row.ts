import type { RowProblem } from '../../rows/problem.ts';
import type { CallableRow, InvalidRow } from '../../rows/row.ts';
import type { PreparedCall, RowPreparer } from '../columns/row-preparer.ts';
import { withLetters } from '../columns/row-problems.ts';
import type { Manifest } from '../manifest.ts';

/** A row after a look at its entry. */
export type ComparedRow<Row> =
  | {
      readonly kind: 'fits';
      /** Its values are the whole entry as it will be, its old values what changes of it. */
      readonly row: Row;
      /** Nothing changes. */
      readonly isAsWanted: boolean;
    }
  /** The column is the name of a field, or of its old value. */
  | { readonly kind: 'misfit'; readonly problem: RowProblem };

/** Compares rows with what the service lists. */
export interface RowComparer {
  /** @returns a promise to wait for before the first row of the operation is compared */
  readonly begin: (operation: string) => Promise<void> | undefined;
  /** Always gives the same result for a row. */
  readonly compare: <Row extends CallableRow>(row: Row) => ComparedRow<Row>;
  /** After all rows: what the user must know of the lists and the rows. */
  readonly warnings: () => readonly {
    readonly code: 'LIST_UNSURE' | 'FIELD_COMPUTED';
    readonly message: string;
  }[];
}

export type ComparedCall = Extract<ComparedRow<PreparedCall>, { readonly kind: 'fits' }> | InvalidRow;

/** A row that can't be called as its entry is has its problem under the title of its column. */
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
