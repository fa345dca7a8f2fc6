import type { Operation } from '../../jobs/operation.ts';
import { type ColumnMeaning, columnWarnings, meaningsOf, type ScanWarning } from './column-meanings.ts';
import { DuplicateIndex } from './duplicate-index.ts';
import type { Manifest } from './manifest.ts';
import { countRow, noRows, type OperationSummary, OperationTally, type RowCounts } from './row-counts.ts';
import type { CallableRow, InvalidRow, PreparedRow, RowPreparer } from './row-preparer.ts';

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
  readonly perOperation: Readonly<Record<string, OperationSummary>>;
  /** The first five. */
  readonly firstConflicts: readonly Conflict[];
  /** The first three rows to be called. */
  readonly preview: readonly CallableRow[];
  /** Original column names in order of first appearance. */
  readonly columns: readonly string[];
  /** The same, with what they are taken for. */
  readonly meanings: readonly ColumnMeaning[];
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
    ...scan.total,
    perOperation: Object.fromEntries([...scan.tallies].map(([name, tally]) => [name, tally.summary()])),
    firstConflicts: scan.firstConflicts,
    preview: scan.preview,
    columns,
    meanings: meaningsOf(columns, prepare),
    bytes: manifest.bytes(),
    warnings: [...columnWarnings(columns, prepare, [...scan.tallies.keys()]), ...scan.paddingWarnings],
  };
}

const keptConflicts = 5;
const previewedRows = 3;

class Scan {
  readonly total = noRows();
  readonly tallies = new Map<string, OperationTally>();
  readonly firstConflicts: Conflict[] = [];
  readonly preview: CallableRow[] = [];
  readonly #padded = new Map<string, { rows: number; readonly firstRow: number }>();
  readonly #calls = new DuplicateIndex();
  readonly #handlers: ScanHandlers;

  constructor(handlers: ScanHandlers) {
    this.#handlers = handlers;
  }

  /** Judges a row by those before; returns what a handler has begun. */
  add(row: PreparedRow): void | Promise<void> {
    if (row.kind === 'invalid') {
      countRow(this.total, { invalid: 1 });
      // A row that says no known operation counts in the total only.
      if (row.operation !== undefined) this.#tallyOf(row.operation).count({ invalid: 1 });
      return this.#handlers.onInvalid?.(row);
    }
    const { subject, request } = row;
    const operation = row.operation.name;
    const tally = this.#tallyOf(row.operation);
    const met = this.#calls.add({
      row: row.row,
      operation,
      subject,
      request: `${request.path}\n${request.body}`,
    });
    if (met.kind === 'duplicate') {
      countRow(this.total, { duplicates: 1 });
      tally.count({ duplicates: 1 });
      return this.#handlers.onDuplicate?.(row, met.firstRow);
    }
    const isConflict = met.kind === 'conflict';
    const isPartial = tally.countCallable(row, isConflict);
    countRow(this.total, { callable: 1, partial: isPartial ? 1 : 0, conflicts: isConflict ? 1 : 0 });
    if (isConflict && this.firstConflicts.length < keptConflicts) {
      this.firstConflicts.push({ operation, subject, row: row.row, firstRow: met.firstRow });
    }
    if (this.preview.length < previewedRows) this.preview.push(row);
    if (row.padded !== undefined) this.#notePadded(row.padded, row.row);
  }

  /** Blanks around texts that will be sent. */
  get paddingWarnings(): readonly ScanWarning[] {
    return [...this.#padded].map(([field, { rows, firstRow }]) => {
      const [have, first] = rows === 1 ? ['row has', ''] : ['rows have', 'first: '];
      const message =
        `${rows} ${have} blanks around ${field} (${first}row ${firstRow}), which are sent as they are; ` +
        '--trim drops them';
      return { code: 'BLANKS_AROUND_TEXT', message };
    });
  }

  #notePadded(field: string, row: number): void {
    const noted = this.#padded.get(field) ?? { rows: 0, firstRow: row };
    noted.rows++;
    this.#padded.set(field, noted);
  }

  #tallyOf(operation: Operation): OperationTally {
    const known = this.tallies.get(operation.name);
    if (known !== undefined) return known;
    const tally = new OperationTally(operation);
    this.tallies.set(operation.name, tally);
    return tally;
  }
}
