import type { Delimiter } from '../../base/text/delimiter.ts';
import type { RowProblem } from '../rows/problem.ts';

/** The default text for the empty string in CSV and TSV. */
export const defaultClearToken = '<clear>';

export const hiddenRules = ['include', 'skip'] as const;

/** How a manifest is read. A run stores the options, so that each reading is the same. */
export interface ReadingOptions {
  /** The text of a cell in CSV and TSV that means the empty string. Default: `<clear>`. */
  readonly clearToken?: string;
  /** The encoding by its name in `TextDecoder`; a byte order mark takes precedence. Default: UTF-8. */
  readonly encoding?: string;
  /** The name of a workbook's sheet, or its number from 1. Default: the first visible sheet with rows. */
  readonly sheet?: string;
  /** The number of lines above the column names in CSV, TSV and workbooks. A line `sep=;` does not count. */
  readonly skipLines?: number;
  /** What hidden rows of a workbook mean. Default: the user must say. */
  readonly hidden?: (typeof hiddenRules)[number];
  /** The path to the array of rows in JSON, with dots between names. Default: `rows`. */
  readonly rowsAt?: string;
  /** Whether to remove blanks around cells, and to omit blank cells. */
  readonly trim?: boolean;
  /** Whether cells may have lines that look like rows. Default: such a row is invalid. */
  readonly trustQuotes?: boolean;
}

/** A file of rows that can be read repeatedly. */
export interface Manifest {
  readonly name: string;
  /** The name of the format in the table of `formats.ts`. */
  readonly format: string;
  /** Whether the first row names the columns of all rows. */
  readonly hasHeader: boolean;
  readonly delimiter?: Delimiter;
  /** The operation that JSON names: `{ "operation", "defaults", "rows" }`. */
  readonly operation?: string;
  /** Values of fields that rows omit. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /**
   * The columns as written, in order of first appearance, without those that start with `_`. Complete with a header; else at least those of
   * the first 100 rows until `rows()` has been read further.
   */
  columns(): readonly string[];
  /** The sheet of a workbook. Absent in other formats. */
  readonly sheet?: {
    readonly name: string;
    readonly others: readonly string[];
    /** The rows of the sheet that are hidden. Absent without any. */
    readonly hidden: { readonly rows: number; readonly rule: (typeof hiddenRules)[number] } | undefined;
    readonly hiddenColumns: readonly string[];
  };
  /** The letters of a column in a spreadsheet: `B`. */
  lettersOf?(column: string): string | undefined;
  /** Whether any row could be read. False when every row has a `problem`. */
  readonly readable: boolean;
  readonly sample: readonly ManifestRow['cells'][];
  /** The path to an array that probably has the real rows: in the only row, or (`isRepeated`) in each of several. */
  readonly nestedRows?: { readonly path: string; readonly isRepeated: boolean };
  /** What the document around the rows says about other pages. */
  readonly page?: PageFacts | undefined;
  /** The encoding by its name in `TextDecoder`. Absent for UTF-8. */
  readonly encoding?: string | undefined;
  /** Why the user's encoding has no effect, as the end of a sentence. */
  readonly whyEncodingUnused?: string | undefined;
  /** How the conditions of `--where` chose, in the rows that the latest `rows()` has read. */
  choice?(): RowChoice;
  /** Identifiers that a program has rounded, in the rows that the latest `rows()` has read. Empty if the user trusts them. */
  roundedIds?(): readonly RoundedIds[];
  /**
   * Gives the rows from the beginning of the file, in chunks of 1 to 500.
   *
   * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when the file cannot be read further
   */
  rows(): AsyncIterable<readonly ManifestRow[]>;
}

/** Identifiers that a program has rounded, because it keeps fewer digits than they have. */
export interface RoundedIds {
  readonly column: string;
  /** How many identifiers with more than 15 digits all rows have. */
  readonly ids: number;
  /** The program that has rounded them, as a part of a sentence. */
  readonly by: string;
}

/** What a page of an API's answer says about other pages. */
export interface PageFacts {
  readonly total?: { readonly name: string; readonly rows: number };
  readonly next?: string;
}

export interface RowChoice {
  readonly chosen: number;
  readonly leftOut: number;
  /** How many rows are left out only because a cell that is not empty can't be compared. */
  readonly undecided: number;
  /** A line about the cells that can't be compared, for each condition with such cells. */
  readonly incomparable: readonly string[];
  whyNothing(): string;
}

export interface ManifestRow {
  /** The number of the row, from 1. Every record counts, even an unusable one. */
  readonly row: number;
  /** The line where the record begins (after unzipping), or the row of the sheet, from 1. */
  readonly line: number;
  /**
   * The cells by column name as written, without columns that start with `_`, and without inherited names. JSON gives values with exact
   * numbers (see `base/text/json.ts`); CSV and TSV give strings, without empty cells, and with the empty string for the clear token. So in
   * every format, absent and null mean "leave out", and the empty string means "clear". `cellText` writes them back.
   */
  readonly cells: Readonly<Record<string, unknown>>;
  /** Why the record can't be used (not an object, wrong number of cells, …); `cells` then has the readable part. */
  readonly problem?: RowProblem;
  /** Why cells of a workbook can't be trusted, by column. Matters only for columns with a field. */
  readonly cellProblems?: Readonly<Record<string, string>>;
}

export type UnnumberedRow = Omit<ManifestRow, 'row'>;

/** An object without inherited names: an absent column `constructor` is undefined. Much faster than `Object.create(null)`. */
export class Cells {
  [column: string]: unknown;
}
Object.setPrototypeOf(Cells.prototype, null);
Reflect.deleteProperty(Cells.prototype, 'constructor');
