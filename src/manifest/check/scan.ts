import type { Operation } from '../../operation/operation.ts';
import { columnWarnings, type ScanWarning } from '../columns/column-advice.ts';
import { knownNames } from '../columns/column-names.ts';
import type { CallableRow, InvalidRow, PreparedRow, RowPreparer } from '../columns/row-preparer.ts';
import type { Manifest } from '../manifest.ts';
import type { Conflict, ConflictRule } from './conflicts.ts';
import type { DoneBefore, DoneRows } from './done-rows.ts';
import { type Acquaintance, type CallIdentity, FirstCalls, LatestCalls } from './duplicate-index.ts';
import { countRow, noRows, type OperationSummary, OperationTally, type RowCounts } from './row-counts.ts';

/** What a pass over all rows has found. */
export interface ScanSummary extends RowCounts {
  /** By the operation's name; rows that say no known operation are in none. */
  readonly perOperation: Readonly<Record<string, OperationSummary>>;
  /** Subjects that more than one row changes, in different ways; where conflicts are refused, 0. */
  readonly changedSubjects: number;
  /** Rows done before, by the run or the report that says so. */
  readonly doneIn: ReadonlyMap<string, number>;
  /** The first five. */
  readonly firstConflicts: readonly Conflict[];
  /** The first three rows to be called. */
  readonly preview: readonly CallableRow[];
  /** Original column names in order of first appearance. */
  readonly columns: readonly string[];
  /** The same, with what they are taken for; one that is only kept for the report has no field. */
  readonly meanings: readonly { readonly column: string; readonly field?: string }[];
  /** Bytes of text, after unzipping. */
  readonly bytes: number;
  readonly warnings: readonly ScanWarning[];
  /** Rows that `--where` has left out; they count nowhere else. */
  readonly leftOut: number;
}

/** Called in the order of the rows; the scan waits for what they return. */
export interface ScanHandlers {
  onInvalid?(row: InvalidRow): void | Promise<void>;
  /** `firstRow` is the row that is called in place of this one. */
  onDuplicate?(row: CallableRow, firstRow: number): void | Promise<void>;
  /** `lastRow` is the row that is called in place of this one. */
  onSuperseded?(row: CallableRow, lastRow: number): void | Promise<void>;
  onDone?(row: CallableRow, before: DoneBefore): void | Promise<void>;
  /** Rows that conflict are callable none the less. */
  onConflict?(conflict: Conflict): void | Promise<void>;
}

export interface ScanOptions {
  /** Default: `refuse`. */
  readonly onConflict?: ConflictRule | undefined;
  /** What need not be done again; default: nothing was done. */
  readonly done?: DoneRows | undefined;
}

/**
 * Checks every row of a manifest and finds identical and conflicting ones. Memory: a chunk of rows, and at most 50
 * bytes for each callable row. To know the last row of each subject, the manifest is read twice.
 *
 * @throws CqbatchError (`usage`) when the manifest cannot be read to its end, and what the handlers throw.
 */
export async function scanManifest(
  manifest: Pick<Manifest, 'rows' | 'columns' | 'bytes' | 'leftOut'>,
  prepare: RowPreparer,
  handlers: ScanHandlers = {},
  { onConflict = 'refuse', done }: ScanOptions = {},
): Promise<ScanSummary> {
  const calls = await callsBy(onConflict, manifest, prepare);
  const scan = new Scan(handlers, calls, done);
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) {
      const pending = scan.add(prepare(row));
      if (pending !== undefined) await pending;
    }
  }
  const columns = manifest.columns();
  const fields = knownNames(prepare.operations);
  return {
    ...scan.total,
    perOperation: Object.fromEntries([...scan.tallies].map(([name, tally]) => [name, tally.summary()])),
    changedSubjects: calls.changedSubjects,
    doneIn: scan.doneIn,
    firstConflicts: scan.firstConflicts,
    preview: scan.preview,
    columns,
    meanings: columns.map((column) =>
      fields.has(prepare.fieldOf(column)) ? { column, field: prepare.fieldOf(column) } : { column },
    ),
    bytes: manifest.bytes(),
    leftOut: manifest.leftOut?.() ?? 0,
    warnings: [...columnWarnings(columns, prepare, [...scan.tallies.keys()]), ...scan.paddingWarnings],
  };
}

/** The calls of a manifest, one of which is judged by the others. */
interface Calls {
  judge(call: CallIdentity): Acquaintance;
  readonly changedSubjects: number;
}

/** Looks at all rows first where it takes all of them to judge one. */
async function callsBy(
  onConflict: ConflictRule,
  manifest: Pick<Manifest, 'rows'>,
  prepare: RowPreparer,
): Promise<Calls> {
  if (onConflict === 'refuse') {
    const first = new FirstCalls();
    return { judge: (call) => first.add(call), changedSubjects: 0 };
  }
  const latest = new LatestCalls();
  if (onConflict === 'last') {
    for await (const chunk of manifest.rows()) {
      for (const row of chunk) {
        const prepared = prepare(row);
        if (prepared.kind === 'callable') latest.add(identityOf(prepared));
      }
    }
  }
  return {
    judge: (call) => (onConflict === 'last' ? latest.judge(call) : latest.add(call)),
    get changedSubjects() {
      return latest.changedSubjects;
    },
  };
}

function identityOf({ row, line, operation, subject, request }: CallableRow): CallIdentity {
  return {
    row,
    line,
    operation: operation.name,
    subject,
    request: `${request.method ?? ''}${request.path}\n${request.body}`,
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
  readonly doneIn = new Map<string, number>();
  readonly #handlers: ScanHandlers;
  readonly #calls: Calls;
  readonly #done: DoneRows | undefined;

  constructor(handlers: ScanHandlers, calls: Calls, done: DoneRows | undefined) {
    this.#handlers = handlers;
    this.#calls = calls;
    this.#done = done;
  }

  /** Judges a row; returns what a handler has begun. */
  add(row: PreparedRow): void | Promise<void> {
    if (row.kind === 'invalid') {
      this.#count(row, { invalid: 1 });
      return this.#handlers.onInvalid?.(row);
    }
    const call = identityOf(row);
    const before = this.#done?.find(call);
    if (before !== undefined) {
      this.#count(row, { doneBefore: 1 });
      this.doneIn.set(before.source, (this.doneIn.get(before.source) ?? 0) + 1);
      return this.#handlers.onDone?.(row, before);
    }
    const met = this.#calls.judge(call);
    if (met.kind === 'duplicate') {
      this.#count(row, { duplicates: 1 });
      return this.#handlers.onDuplicate?.(row, met.row);
    }
    if (met.kind === 'superseded') {
      this.#count(row, { superseded: 1 });
      return this.#handlers.onSuperseded?.(row, met.row);
    }
    const isConflict = met.kind === 'conflict';
    const isPartial = this.#tallyOf(row.operation).countCallable(row, isConflict);
    countRow(this.total, { callable: 1, partial: isPartial ? 1 : 0, conflicts: isConflict ? 1 : 0 });
    if (this.preview.length < previewedRows) this.preview.push(row);
    if (row.padded !== undefined) this.#notePadded(row.padded, row.row);
    if (isConflict) return this.#noteConflict(row, met);
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

  #noteConflict(
    { operation, subject, row, line }: CallableRow,
    first: { readonly row: number; readonly line: number },
  ): void | Promise<void> {
    const { name, thing } = operation;
    const conflict = {
      operation: name,
      thing,
      subject,
      row,
      line,
      firstRow: first.row,
      firstLine: first.line,
    };
    if (this.firstConflicts.length < keptConflicts) this.firstConflicts.push(conflict);
    return this.#handlers.onConflict?.(conflict);
  }

  #notePadded(field: string, row: number): void {
    const noted = this.#padded.get(field) ?? { rows: 0, firstRow: row };
    noted.rows++;
    this.#padded.set(field, noted);
  }

  /** @param row one that says no known operation counts in the total only */
  #count({ operation }: PreparedRow, what: Partial<RowCounts>): void {
    countRow(this.total, what);
    if (operation !== undefined) this.#tallyOf(operation).count(what);
  }

  #tallyOf(operation: Operation): OperationTally {
    const known = this.tallies.get(operation.name);
    if (known !== undefined) return known;
    const tally = new OperationTally(operation);
    this.tallies.set(operation.name, tally);
    return tally;
  }
}
