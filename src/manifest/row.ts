import type { Operation } from '../../jobs/operation.ts';
import type { ApiRequest } from '../api/request.ts';

/** One record of a manifest as it was read, before any operation looks at it. */
export interface ManifestRow {
  /** From 1, counting every record of the manifest, bad ones included; header lines do not count. */
  readonly row: number;
  /** Line of the file (after unzipping) on which the record begins, from 1. */
  readonly line: number;
  /**
   * Cells by their original column name, without columns that start with `_`. JSON gives values with exact numbers
   * (see `../json.ts`), CSV and TSV strings, in which an empty cell is absent and the clear token has become the empty
   * string: so absent and null mean "leave out", the empty string means "clear", whatever the format. Written back by
   * `cellText`. Has no inherited names.
   */
  readonly cells: Readonly<Record<string, unknown>>;
  /** Why this is no usable record (not an object, wrong number of cells, …); `cells` holds what could be read. */
  readonly problem?: RowProblem;
}

/** What is wrong with a row, for `file:line: column: problem (value)`. */
export interface RowProblem {
  /** Original column name, when one column is to blame. */
  readonly column?: string;
  /** What is wrong and, where it is not obvious, the remedy. One line. */
  readonly problem: string;
  /** The offending value, shortened, control characters escaped. */
  readonly value?: string;
}

/** A row that can be called. */
export interface CallableRow {
  readonly kind: 'callable';
  readonly row: number;
  readonly line: number;
  readonly operation: Operation;
  /** Identifier of the thing that the row acts on. */
  readonly subject: string;
  readonly request: ApiRequest;
  /** Whether fields are left out that the service might reset. */
  readonly partial: boolean;
}

/** A row that must not be called. */
export interface InvalidRow {
  readonly kind: 'invalid';
  readonly row: number;
  readonly line: number;
  /** Name of the operation, when the row says a known one. */
  readonly operation?: string;
  /** At least one. */
  readonly problems: readonly RowProblem[];
}

export type PreparedRow = CallableRow | InvalidRow;
