import { type ColumnMeaning, columnWarnings, meaningsOf, type ScanWarning } from './column-meanings.ts';
import { DuplicateIndex } from './duplicate-index.ts';
import type { Manifest } from './manifest.ts';
import type { CallableRow, InvalidRow, PreparedRow, RowPreparer } from './row-preparer.ts';

/** Row counts. Each row is exactly one of callable, invalid and duplicate. */
export interface RowCounts {
  readonly rows: number;
  /** Rows to be called: valid, and not identical to an earlier one. */
  readonly callable: number;
  readonly invalid: number;
  /** Rows whose request is that of an earlier row. */
  readonly duplicates: number;
  /** Callable rows that act on the same subject as an earlier row, with another request. */
  readonly conflicts: number;
  /** Callable rows that leave out fields which the service might reset. */
  readonly partial: number;
}

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
    perOperation: Object.fromEntries(scan.perOperation),
    firstConflicts: scan.firstConflicts,
    preview: scan.preview,
    columns,
    meanings: meaningsOf(columns, prepare),
    bytes: manifest.bytes(),
    warnings: [...columnWarnings(columns, prepare, [...scan.perOperation.keys()]), ...scan.paddingWarnings],
  };
}

const keptConflicts = 5;
const previewedRows = 3;

class Scan {
  readonly total = noRows();
  readonly perOperation = new Map<string, MutableCounts>();
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
      this.#count(row.operation, { invalid: 1 });
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
      this.#count(operation, { duplicates: 1 });
      return this.#handlers.onDuplicate?.(row, met.firstRow);
    }
    const isConflict = met.kind === 'conflict';
    this.#count(operation, { callable: 1, partial: row.partial ? 1 : 0, conflicts: isConflict ? 1 : 0 });
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

  /** @param operation undefined for a row that says no known one: it counts in the total only. */
  #count(operation: string | undefined, what: Partial<RowCounts>): void {
    increase(this.total, what);
    if (operation === undefined) return;
    const counts = this.perOperation.get(operation) ?? noRows();
    this.perOperation.set(operation, counts);
    increase(counts, what);
  }
}

type MutableCounts = { -readonly [Name in keyof RowCounts]: RowCounts[Name] };

function noRows(): MutableCounts {
  return { rows: 0, callable: 0, invalid: 0, duplicates: 0, conflicts: 0, partial: 0 };
}

function increase(counts: MutableCounts, by: Partial<RowCounts>): void {
  counts.rows++;
  counts.callable += by.callable ?? 0;
  counts.invalid += by.invalid ?? 0;
  counts.duplicates += by.duplicates ?? 0;
  counts.conflicts += by.conflicts ?? 0;
  counts.partial += by.partial ?? 0;
}
