import type { Operation } from '../../operation/operation.ts';
import { escapeInvisible } from '../../text/printable.ts';
import { counted } from '../../text/quantities.ts';
import { columnWarnings, type ScanWarning } from '../columns/column-advice.ts';
import { knownNames } from '../columns/column-names.ts';
import type { CallableRow, InvalidRow, PreparedRow, RowPreparer } from '../columns/row-preparer.ts';
import { pageWarning } from '../json/page.ts';
import type { Manifest, RoundedIds, RowChoice } from '../manifest.ts';
import {
  type CallIdentity,
  CallIndex,
  type Conflict,
  type ConflictRule,
  type DoneBefore,
  type DoneRows,
} from './call-index.ts';
import { CellNotices } from './cell-notices.ts';
import { type NotedRows, noteRow } from './noted-rows.ts';
import { effectWarnings } from './option-effects.ts';
import { type OperationSummary, type RowCounts, RowTally, sumOf } from './row-counts.ts';

/** The result of checking all rows. */
export interface ScanSummary extends RowCounts {
  /** By name of the operation; excludes rows without a known operation. */
  readonly perOperation: Readonly<Record<string, OperationSummary>>;
  /** Subjects that several rows change in different ways; 0 where conflicts are refused. */
  readonly changedSubjects: number;
  /** Rows done before, by the run or report that did them. */
  readonly doneIn: ReadonlyMap<string, number>;
  /** The first five. */
  readonly firstConflicts: readonly Conflict[];
  /** The first three rows to be called. */
  readonly preview: readonly CallableRow[];
  /** Original column names in order of first appearance. */
  readonly columns: readonly string[];
  /** The columns with their fields; a column that is only kept for the report has no field. */
  readonly meanings: readonly { readonly column: string; readonly field?: string }[];
  readonly warnings: readonly ScanWarning[];
  /** Rows left out by `--where`; counted nowhere else. */
  readonly leftOut: number;
  /** Columns whose identifiers were rounded before, unless the user trusts them. */
  readonly roundedIds: readonly RoundedIds[];
  readonly choice: RowChoice | undefined;
}

/** Called in the order of rows; the scan awaits the results. */
export interface ScanHandlers {
  onInvalid?(row: InvalidRow): void | Promise<void>;
  /** @param firstRow the row that is called instead */
  onDuplicate?(row: CallableRow, firstRow: number): void | Promise<void>;
  /** @param lastRow the row that is called instead */
  onSuperseded?(row: CallableRow, lastRow: number): void | Promise<void>;
  onDone?(row: CallableRow, before: DoneBefore): void | Promise<void>;
  /** Conflicting rows are also callable. */
  onConflict?(conflict: Conflict): void | Promise<void>;
}

export interface ScanOptions {
  /** Default: `refuse`. */
  readonly onConflict?: ConflictRule | undefined;
  /** What earlier runs have done; default: nothing. */
  readonly done?: DoneRows | undefined;
}

/**
 * Checks every row of a manifest, and finds duplicates and conflicts. Memory: a chunk of rows, and at most 50 bytes for each
 * callable row. Reads the manifest twice if the last row of each subject is needed.
 *
 * @throws CqbatchError (`usage`) when the manifest cannot be read to its end, and errors of the handlers
 */
export async function scanManifest(
  manifest: Pick<Manifest, 'rows' | 'columns' | 'choice' | 'page' | 'roundedIds' | 'sheet' | 'encodedAs'>,
  prepare: RowPreparer,
  handlers: ScanHandlers = {},
  { onConflict = 'refuse', done }: ScanOptions = {},
): Promise<ScanSummary> {
  const calls = new CallIndex(onConflict === 'refuse' ? 'any' : 'latest');
  if (onConflict === 'last') await addAll(calls, manifest, prepare);
  const scan = new Scan(handlers, done, (call) =>
    onConflict === 'last' ? calls.judge(call) : calls.add(call),
  );
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) {
      scan.cells.noteRead(row);
      const pending = scan.add(prepare(row));
      if (pending !== undefined) await pending;
    }
  }
  const columns = manifest.columns();
  const names = knownNames(prepare.operations);
  const { tallies } = scan;
  const counts = sumOf([...tallies.values(), scan.unknown].map((tally) => tally.counts));
  const choice = manifest.choice?.();
  return {
    ...counts,
    perOperation: Object.fromEntries([...tallies].map(([name, tally]) => [name, tally.summary()])),
    changedSubjects: calls.changedSubjects,
    doneIn: scan.doneIn,
    firstConflicts: scan.firstConflicts,
    preview: scan.preview,
    columns,
    meanings: columns.map((column) => {
      const field = prepare.fieldOf(column);
      return names.has(field) ? { column, field } : { column };
    }),
    leftOut: choice?.leftOut ?? 0,
    choice,
    roundedIds: manifest.roundedIds?.() ?? [],
    warnings: [
      ...columnWarnings(columns, prepare, [...tallies.keys()]),
      ...hiddenWarnings(manifest, (column) => names.has(prepare.fieldOf(column))),
      ...scan.cells.warnings,
      ...pageWarnings(manifest.page, counts.rows + (choice?.leftOut ?? 0)),
      ...effectWarnings({
        encodedAs: manifest.encodedAs,
        choice,
        done,
        doneIn: scan.doneIn,
        prepare,
        callable: counts.callable,
        owners: scan.owners,
      }),
    ],
  };
}

/** Warnings of what a spreadsheet does not show. */
function hiddenWarnings(
  { sheet }: Pick<Manifest, 'sheet'>,
  hasMeaning: (column: string) => boolean,
): readonly ScanWarning[] {
  if (sheet === undefined) return [];
  const warnings: ScanWarning[] = sheet.hiddenColumns.filter(hasMeaning).map((column) => ({
    code: 'HIDDEN_COLUMN',
    message: `the column "${escapeInvisible(column)}" is hidden in the workbook, but it is read`,
  }));
  if (sheet.hidden === undefined) return warnings;
  const { rows, rule } = sheet.hidden;
  const done = rule === 'skip' ? 'left out' : 'read, too';
  const message = `${counted(rows, 'hidden row', ['is', 'are'])} ${done} (--hidden ${rule})`;
  return [{ code: 'HIDDEN_ROWS', message }, ...warnings];
}

async function addAll(
  calls: CallIndex,
  manifest: Pick<Manifest, 'rows'>,
  prepare: RowPreparer,
): Promise<void> {
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) {
      const prepared = prepare(row);
      if (prepared.kind === 'callable') calls.add(identityOf(prepared));
    }
  }
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

function pageWarnings(page: Manifest['page'], rows: number): readonly ScanWarning[] {
  const message = page && pageWarning(page, rows);
  return message === undefined ? [] : [{ code: 'ROWS_ON_OTHER_PAGES', message }];
}

const keptConflicts = 5;
const previewedRows = 3;

class Scan {
  readonly tallies = new Map<string, RowTally>();
  /** For rows without a known operation. */
  readonly unknown = new RowTally();
  readonly firstConflicts: Conflict[] = [];
  readonly preview: CallableRow[] = [];
  readonly doneIn = new Map<string, number>();
  readonly cells = new CellNotices();
  /** Rows with a value of their own for a field of `--default`. */
  readonly owners = new Map<string, NotedRows>();
  readonly #handlers: ScanHandlers;
  readonly #done: DoneRows | undefined;
  readonly #judge: CallIndex['judge'];

  constructor(handlers: ScanHandlers, done: DoneRows | undefined, judge: CallIndex['judge']) {
    this.#handlers = handlers;
    this.#done = done;
    this.#judge = judge;
  }

  /** Judges a row. @returns a handler's pending work */
  add(row: PreparedRow): void | Promise<void> {
    const tally = this.#tallyOf(row.operation);
    if (row.kind === 'invalid') {
      tally.count('invalid');
      return this.#handlers.onInvalid?.(row);
    }
    const call = identityOf(row);
    const before = this.#done?.find(call);
    if (before !== undefined) {
      tally.count('doneBefore');
      this.doneIn.set(before.source, (this.doneIn.get(before.source) ?? 0) + 1);
      return this.#handlers.onDone?.(row, before);
    }
    const verdict = this.#judge(call);
    if (verdict.kind === 'duplicate') {
      tally.count('duplicates');
      return this.#handlers.onDuplicate?.(row, verdict.row);
    }
    if (verdict.kind === 'superseded') {
      tally.count('superseded');
      return this.#handlers.onSuperseded?.(row, verdict.row);
    }
    tally.countCallable(row, verdict.kind === 'conflict');
    if (this.preview.length < previewedRows) this.preview.push(row);
    this.cells.noteSent(row);
    for (const field of row.own ?? []) noteRow(this.owners, field, row.row);
    if (verdict.kind === 'conflict') return this.#noteConflict(row, verdict);
  }

  #noteConflict(
    { operation: { name, thing }, subject, row, line }: CallableRow,
    first: { readonly row: number; readonly line: number },
  ): void | Promise<void> {
    const both = { row, line, firstRow: first.row, firstLine: first.line };
    const conflict = { operation: name, thing, subject, ...both };
    if (this.firstConflicts.length < keptConflicts) this.firstConflicts.push(conflict);
    return this.#handlers.onConflict?.(conflict);
  }

  #tallyOf(operation: Operation | undefined): RowTally {
    if (operation === undefined) return this.unknown;
    const known = this.tallies.get(operation.name);
    if (known !== undefined) return known;
    const tally = new RowTally(operation);
    this.tallies.set(operation.name, tally);
    return tally;
  }
}
