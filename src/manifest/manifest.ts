import type { RowProblem } from './problem.ts';

/** The text that stands for the empty string in CSV and TSV, unless another is chosen. */
export const defaultClearToken = '<clear>';

/** What may separate the cells of delimited text, in order of preference. */
export const delimiters = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof delimiters)[number];

/** What people call them where they can't be typed, or are read as something else. */
export const delimiterNames: Readonly<Record<string, Delimiter>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
};

/** What a manifest is written in; `tsv` is delimited text with tabs, `csv` with any other delimiter. */
export type ManifestFormat = 'csv' | 'tsv' | 'json' | 'jsonl' | 'xlsx';

/** What the user says about how a manifest is written. A run keeps it, so that it is read alike each time. */
export interface ReadingOptions {
  /** CSV and TSV: a cell equal to this text means the empty string. Default `<clear>`. */
  readonly clearToken?: string;
  /** Encoding of the text, as `TextDecoder` calls it; a byte order mark goes before it. Default is UTF-8. */
  readonly encoding?: string;
  /** Workbooks: name of the sheet, or its number from 1. Default is the first visible one with rows. */
  readonly sheet?: string;
  /** CSV, TSV and workbooks: lines before the one with the column names. A line `sep=;` does not count. */
  readonly skipLines?: number;
  /** JSON: where the array of rows is in the object, names with dots between them. Default `rows`. */
  readonly rowsAt?: string;
  /** Whether blanks around cells are dropped; a cell of nothing else is left out. */
  readonly trim?: boolean;
}

/** An open manifest: its facts, and its rows as often as wanted. */
export interface Manifest {
  /** What to call it in messages. */
  readonly name: string;
  readonly format: ManifestFormat;
  /** What separates the cells of delimited text. */
  readonly delimiter?: Delimiter;
  /** What a JSON manifest of the form `{ "operation", "defaults", "rows" }` says for all of its rows. */
  readonly operation?: string;
  /** Field name to value. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /**
   * Original column names in order of first appearance, without those that start with `_`. In CSV and TSV they are
   * all known at once. In JSON they are those of (at least) the first 100 rows until `rows()` has been read further.
   */
  columns(): readonly string[];
  /** The sheet of a workbook that is read, and the names of the others. */
  readonly sheet?: { readonly name: string; readonly others: readonly string[] };
  /** What the spreadsheet calls a column of a workbook: `B`. */
  lettersOf?(column: string): string | undefined;
  /** Whether any row could be read; false when each of them has a `problem`. */
  readonly readable: boolean;
  /** The member of the only row that seems to hold the rows. */
  readonly nestedRows?: string;
  /** Rows that the latest `rows()` has left out so far, of a manifest whose rows are chosen. */
  leftOut?(): number;
  /**
   * Reads the file from its beginning; chunks hold 1 to 500 rows, in order. A defect of a row is told in the row.
   *
   * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when the file cannot be read any further.
   */
  rows(): AsyncIterable<readonly ManifestRow[]>;
}

/** One record of a manifest as it was read, before any operation looks at it. */
export interface ManifestRow {
  /** From 1, counting every record of the manifest, bad ones included; header lines do not count. */
  readonly row: number;
  /** Line of the file (after unzipping) on which the record begins, or row of the sheet, from 1. */
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
  /** Why cells of a workbook must not be taken for what was meant, by column; it matters for fields only. */
  readonly cellProblems?: Readonly<Record<string, string>>;
}

/** A row as a format's reader gives it. */
export type UnnumberedRow = Omit<ManifestRow, 'row'>;

/**
 * The cells of a row by column name. Has no inherited names, so that an absent column called `constructor` is
 * `undefined`, and is much faster than an `Object.create(null)`.
 */
export class Cells {
  [column: string]: unknown;
}
Object.setPrototypeOf(Cells.prototype, null);
Reflect.deleteProperty(Cells.prototype, 'constructor');
