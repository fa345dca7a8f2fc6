import type { ManifestRow } from './row.ts';

/** What a manifest is written in; `tsv` is delimited text with tabs, `csv` with any other delimiter. */
export type ManifestFormat = 'csv' | 'tsv' | 'json' | 'jsonl';

/** An open manifest: its facts, and its rows as often as wanted. */
export interface Manifest {
  /** What to call it in messages. */
  readonly name: string;
  readonly format: ManifestFormat;
  readonly gzip: boolean;
  /** What a JSON manifest of the form `{ "operation", "defaults", "rows" }` says for all of its rows. */
  readonly operation?: string;
  /** Field name to value. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /**
   * Original column names in order of first appearance, without those that start with `_`. In CSV and TSV they are
   * all known at once. In JSON they are those of (at least) the first 100 rows until `rows()` has been read further.
   */
  columns(): readonly string[];
  /** Whether any row could be read; false when each of them has a `problem`. */
  readonly readable: boolean;
  /** Bytes of text, after unzipping, that the latest `rows()` has read so far. */
  bytes(): number;
  /**
   * Reads the file from its beginning; chunks hold 1 to 500 rows, in order. A defect of a row is told in the row.
   *
   * @throws CqbatchError (`usage`, codes `MANIFEST_…`) when the file cannot be read any further.
   */
  rows(): AsyncIterable<readonly ManifestRow[]>;
}
