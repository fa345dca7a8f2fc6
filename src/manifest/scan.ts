import type { Operation } from '../../jobs/operation.ts';
import { escapeInvisible } from '../printable.ts';
import { fieldNameOf, knownNames, resembledField } from './column-names.ts';
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

/** Something in a manifest that is allowed but probably not meant. */
export interface ScanWarning {
  readonly code: 'COLUMN_RESEMBLES_FIELD';
  /** One line. */
  readonly message: string;
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
    ...scan.total,
    perOperation: Object.fromEntries(scan.perOperation),
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
  readonly total = noRows();
  readonly perOperation = new Map<string, MutableCounts>();
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

/** Columns that are for no field but are called almost like one: what they hold would silently not be sent. */
function findResemblances(
  columns: readonly string[],
  operations: readonly Operation[],
): readonly ScanWarning[] {
  const fields = knownNames(operations);
  const warnings: ScanWarning[] = [];
  for (const column of columns) {
    if (fields.has(fieldNameOf(column))) continue;
    const field = resembledField(column, fields);
    if (field === undefined) continue;
    const message = `column "${escapeInvisible(column)}" is for no field and will not be sent; is it meant to be ${field}?`;
    warnings.push({ code: 'COLUMN_RESEMBLES_FIELD', message });
  }
  return warnings;
}
