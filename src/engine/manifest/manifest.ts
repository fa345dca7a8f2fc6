import type { Delimiter } from '../../base/text/delimiter.ts';
import type { RowProblem } from '../rows/problem.ts';

/** The empty string in CSV and TSV. */
export const defaultClearToken = '<clear>';

export const hiddenRules = ['include', 'skip'] as const;

/** Stored by a run, so that each reading is the same. */
export interface ReadingOptions {
  /** The text of a cell in CSV and TSV that means the empty string. Default: `<clear>`. */
  readonly clearToken?: string;
  /** By its name in `TextDecoder`; a byte order mark takes precedence. Default: UTF-8. */
  readonly encoding?: string;
  /** The name of a workbook's sheet, or its number from 1. Default: the first visible sheet with rows. */
  readonly sheet?: string;
  /** Lines above the column names in CSV, TSV and workbooks. A line `sep=;` does not count. */
  readonly skipLines?: number;
  /** For workbooks. Default: the user must say. */
  readonly hidden?: (typeof hiddenRules)[number];
  /** The path to JSON's array of rows, with dots between names. Default: `rows`. */
  readonly rowsAt?: string;
  /** Removes blanks around cells, and omits blank cells. */
  readonly trim?: boolean;
  /** Whether cells may have lines that look like rows. Default: such a row is invalid. */
  readonly trustQuotes?: boolean;
}

/** Its rows can be read repeatedly. */
export interface Manifest {
  readonly name: string;
  /** Its name in the table of `formats.ts`. */
  readonly format: string;
  /** Whether the first row names the columns of all rows. */
  readonly hasHeader: boolean;
  readonly delimiter?: Delimiter;
  /** Of JSON `{ "operation", "defaults", "rows" }`. */
  readonly operation?: string;
  /** Values of fields that rows omit. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /**
   * Columns as written, in order of first appearance, without those that start with `_`. Complete with a header; else at least those of the
   * first 100 rows until `rows()` has been read further.
   */
  columns(): readonly string[];
  /** Absent unless the manifest is a workbook. */
  readonly sheet?: {
    readonly name: string;
    readonly others: readonly string[];
    /** Absent without hidden rows. */
    readonly hidden: { readonly rows: number; readonly rule: (typeof hiddenRules)[number] } | undefined;
    readonly hiddenColumns: readonly string[];
  };
  /** In a spreadsheet: `B`. */
  lettersOf?(column: string): string | undefined;
  /** False when every row has a `problem`. */
  readonly readable: boolean;
  readonly sample: readonly ManifestRow['cells'][];
  /** Path to an array that probably has the real rows: in the only row, or (`isRepeated`) in each of several. */
  readonly nestedRows?: { readonly path: string; readonly isRepeated: boolean };
  /** From the document around the rows. */
  readonly page?: PageFacts | undefined;
  /** By its name in `TextDecoder`; absent for UTF-8. */
  readonly encoding?: string | undefined;
  /** Why the user's encoding has no effect, as the end of a sentence. */
  readonly whyEncodingUnused?: string | undefined;
  /** Of the rows that the latest `rows()` has read. */
  choice?(): RowChoice;
  /** In the rows that the latest `rows()` has read; empty if the user trusts them. */
  roundedIds?(): readonly RoundedIds[];
  /**
   * From the beginning of the file, in chunks of 1 to 500.
   *
   * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when the file cannot be read further
   */
  rows(): AsyncIterable<readonly ManifestRow[]>;
}

/** A program keeps fewer digits than these identifiers have, and has rounded them. */
export interface RoundedIds {
  readonly column: string;
  /** With more than 15 digits, in all rows. */
  readonly ids: number;
  /** The program, as a part of a sentence. */
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
  /** Left out only because a cell that is not empty can't be compared. */
  readonly undecided: number;
  /** A line for each condition. */
  readonly incomparable: readonly string[];
  whyNothing(): string;
}

export interface ManifestRow {
  /** From 1; counts every record, even unusable ones. */
  readonly row: number;
  /** From 1: where the record begins (after unzipping), or the row of the sheet. */
  readonly line: number;
  /**
   * By column name as written, without columns that start with `_`, and without inherited names. JSON gives values with exact numbers (see
   * `base/text/json.ts`); CSV and TSV give strings, without empty cells, and with the empty string for the clear token. So in every format,
   * absent and null mean "leave out", and the empty string means "clear". `cellText` writes them back.
   */
  readonly cells: Readonly<Record<string, unknown>>;
  /** Why this is no usable record (not an object, wrong number of cells, …); `cells` has the readable part. */
  readonly problem?: RowProblem;
  /** Why cells of a workbook can't be trusted, by column; matters only for fields. */
  readonly cellProblems?: Readonly<Record<string, string>>;
}

export type UnnumberedRow = Omit<ManifestRow, 'row'>;

/** Has no inherited names: an absent column `constructor` is undefined. Much faster than `Object.create(null)`. */
export class Cells {
  [column: string]: unknown;
}
Object.setPrototypeOf(Cells.prototype, null);
Reflect.deleteProperty(Cells.prototype, 'constructor');
