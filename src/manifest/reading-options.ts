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
