import type { Delimiter } from '../../base/text/delimiter.ts';
import type { RowProblem } from '../rows/problem.ts';

/** Stands for the empty string in CSV and TSV. */
export const defaultClearToken = '<clear>';

/** What to do with hidden rows of a workbook. */
export const hiddenRules = ['include', 'skip'] as const;

/** `tsv` is delimited by tabs, `csv` by any other delimiter. */
export type ManifestFormat = 'csv' | 'tsv' | 'json' | 'jsonl' | 'xlsx';

/** The user's options. A run stores them, so that each reading is the same. */
export interface ReadingOptions {
  /** CSV and TSV: a cell with this text means the empty string. Default `<clear>`. */
  readonly clearToken?: string;
  /** By its name in `TextDecoder`; a byte order mark takes precedence. Default UTF-8. */
  readonly encoding?: string;
  /** Workbooks: name of the sheet, or its number from 1. Default: the first visible sheet with rows. */
  readonly sheet?: string;
  /** CSV, TSV and workbooks: lines above the column names. A line `sep=;` does not count. */
  readonly skipLines?: number;
  /** Workbooks. Default: the user must say. */
  readonly hidden?: (typeof hiddenRules)[number];
  /** JSON: path to the array of rows, with dots between names. Default `rows`. */
  readonly rowsAt?: string;
  /** Remove blanks around cells; a blank cell is omitted. */
  readonly trim?: boolean;
}

/** A manifest, whose rows can be read repeatedly. */
export interface Manifest {
  /** In messages. */
  readonly name: string;
  readonly format: ManifestFormat;
  /** Of delimited text. */
  readonly delimiter?: Delimiter;
  /** Of a JSON manifest `{ "operation", "defaults", "rows" }`. */
  readonly operation?: string;
  /** Of such a manifest: values of fields that rows omit, by field. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /**
   * Columns as written, in order of first appearance, without those that start with `_`. For CSV and TSV complete; for JSON at least those
   * of the first 100 rows until `rows()` has been read further.
   */
  columns(): readonly string[];
  /** The sheet in use, and the names of the others; absent unless the manifest is a workbook. */
  readonly sheet?: {
    readonly name: string;
    readonly others: readonly string[];
    /** Hidden rows, if any, and what the user wants to do with them. */
    readonly hidden: { readonly rows: number; readonly rule: (typeof hiddenRules)[number] } | undefined;
    readonly hiddenColumns: readonly string[];
  };
  /** The letters of a column in the spreadsheet: `B`. */
  lettersOf?(column: string): string | undefined;
  /** False when every row has a `problem`. */
  readonly readable: boolean;
  readonly sample: readonly ManifestRow['cells'][];
  /** Path to an array that probably has the real rows: in the only row, or (`isRepeated`) in each of several. */
  readonly nestedRows?: { readonly path: string; readonly isRepeated: boolean };
  /** What the document around the rows says about rows on other pages. */
  readonly page?: PageFacts | undefined;
  /** By its name in `TextDecoder`; absent for UTF-8. */
  readonly encoding?: string | undefined;
  /** Why the user's encoding has no effect, as the end of a sentence. */
  readonly encodedAs?: string | undefined;
  /** The choice of the rows that the latest `rows()` has read so far. */
  choice?(): RowChoice;
  /** Rounded identifiers in all rows that the latest `rows()` has read; none if the user trusts them. */
  roundedIds?(): readonly RoundedIds[];
  /**
   * Rows from the beginning of the file; chunks hold 1 to 500 rows, in order. Defects of rows are in the rows.
   *
   * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when the file cannot be read further
   */
  rows(): AsyncIterable<readonly ManifestRow[]>;
}

/** A column whose identifiers have more digits than a program keeps, which has rounded them. */
export interface RoundedIds {
  readonly column: string;
  /** With more than 15 digits, in all rows of the file. */
  readonly ids: number;
  /** The program that rounds in this way, as a part of a sentence. */
  readonly by: string;
}

/** What a page of an API's answer says about rows on other pages. */
export interface PageFacts {
  /** The member with the number of all rows. */
  readonly total?: { readonly name: string; readonly rows: number };
  /** The member that leads to the next page. */
  readonly next?: string;
}

/** What `--where` did to the rows that were read. */
export interface RowChoice {
  readonly chosen: number;
  readonly leftOut: number;
  /** Left out only because a cell can't be compared. */
  readonly undecided: number;
  /** The cells that can't be compared, a line for each condition. */
  readonly incomparable: readonly string[];
  /** Why no row was chosen, and what to write. */
  whyNothing(): string;
}

/** A record as read, before an operation interprets it. */
export interface ManifestRow {
  /** From 1; counts every record, even unusable ones, but not header lines. */
  readonly row: number;
  /** On which the record begins (after unzipping), or row of the sheet, from 1. */
  readonly line: number;
  /**
   * By column name as written, without columns that start with `_`. JSON gives values with exact numbers (see `base/text/json.ts`); CSV and
   * TSV give strings, without empty cells, and with the empty string for the clear token. So in every format, absent and null mean "leave
   * out", and the empty string means "clear". `cellText` writes them back. Has no inherited names.
   */
  readonly cells: Readonly<Record<string, unknown>>;
  /** Why this is no usable record (not an object, wrong number of cells, …); `cells` has the readable part. */
  readonly problem?: RowProblem;
  /** Why cells of a workbook can't be trusted, by column; matters only for fields. */
  readonly cellProblems?: Readonly<Record<string, string>>;
}

/** A row without its number, from a format's reader. */
export type UnnumberedRow = Omit<ManifestRow, 'row'>;

/**
 * The cells of a row by column name, without inherited names: an absent column `constructor` is `undefined`. Much faster than an
 * `Object.create(null)`.
 */
export class Cells {
  [column: string]: unknown;
}
Object.setPrototypeOf(Cells.prototype, null);
Reflect.deleteProperty(Cells.prototype, 'constructor');
