import type { Manifest } from './manifest.ts';
import type { CallableRow, InvalidRow, PreparedRow } from './row.ts';
import type { RowPreparer } from './row-preparer.ts';
import { DuplicateIndex } from './scan/duplicate-index.ts';
import { type RowCounts, RowTally } from './scan/row-counts.ts';
import { findResemblances, type ScanWarning } from './scan/warnings.ts';

/** Two rows that act on the same subject with different requests. */
export interface Conflict {
  readonly operation: string;
  readonly subject: string;
  readonly row: number;
  readonly firstRow: number;
}

/** What a pass over all rows has found. */
export interface ScanSummary extends RowCounts {
  /** By the operation's name; rows that say no known operation are in none. */
  readonly perOperation: Readonly<Record<string, RowCounts>>;
  /** The first five. */
  readonly firstConflicts: readonly Conflict[];
  /** The first three rows to be called. */
  readonly preview: readonly CallableRow[];
  /** Original column names in order of first appearance. */
  readonly columns: readonly string[];
  /** Bytes of text, after unzipping. */
  readonly bytes: number;
  readonly warnings: readonly ScanWarning[];
}

/** Called in the order of the rows; the scan waits for what they return. */
export interface ScanHandlers {
  onInvalid?(row: InvalidRow): void | Promise<void>;
  /** `firstRow` is the row that is called in place of this one. */
  onDuplicate?(row: CallableRow, firstRow: number): void | Promise<void>;
}

/**
 * Checks every row of a manifest and finds identical and conflicting ones. Memory: a chunk of rows, and at most 40
 * bytes for each callable row.
 *
 * @throws CqbatchError (`usage`) when the manifest cannot be read to its end, and what the handlers throw.
 */
export async function scanManifest(
  manifest: Pick<Manifest, 'rows' | 'columns' | 'bytes'>,
  prepare: RowPreparer,
  handlers: ScanHandlers = {},
): Promise<ScanSummary> {
  const scan = new Scan(handlers);
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) {
      const pending = scan.add(prepare(row));
      if (pending !== undefined) await pending;
    }
  }
  const columns = manifest.columns();
  return {
    ...scan.tally.total,
    perOperation: scan.tally.perOperation,
    firstConflicts: scan.firstConflicts,
    preview: scan.preview,
    columns,
    bytes: manifest.bytes(),
    warnings: findResemblances(columns, prepare.operations),
  };
}

const keptConflicts = 5;
const previewedRows = 3;

class Scan {
  readonly tally = new RowTally();
  readonly firstConflicts: Conflict[] = [];
  readonly preview: CallableRow[] = [];
  readonly #calls = new DuplicateIndex();
  readonly #handlers: ScanHandlers;

  constructor(handlers: ScanHandlers) {
    this.#handlers = handlers;
  }

  /** Judges a row by those before; returns what a handler has begun. */
  add(row: PreparedRow): void | Promise<void> {
    if (row.kind === 'invalid') {
      this.tally.add(row.operation, { invalid: 1 });
      return this.#handlers.onInvalid?.(row);
    }
    const { subject, request } = row;
    const operation = row.operation.name;
    const met = this.#calls.add({
      row: row.row,
      operation,
      subject,
      request: `${request.path}\n${request.body}`,
    });
    if (met.kind === 'duplicate') {
      this.tally.add(operation, { duplicates: 1 });
      return this.#handlers.onDuplicate?.(row, met.firstRow);
    }
    const isConflict = met.kind === 'conflict';
    this.tally.add(operation, { callable: 1, partial: row.partial ? 1 : 0, conflicts: isConflict ? 1 : 0 });
    if (isConflict && this.firstConflicts.length < keptConflicts) {
      this.firstConflicts.push({ operation, subject, row: row.row, firstRow: met.firstRow });
    }
    if (this.preview.length < previewedRows) this.preview.push(row);
  }
}
