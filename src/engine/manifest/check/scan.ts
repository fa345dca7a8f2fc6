import { withScope } from '../../../base/async/scope.ts';
import { count, counted } from '../../../base/text/format.ts';
import { escapeInvisible } from '../../../base/text/printable.ts';
import type { ConflictRule } from '../../../domain/terms.ts';
import { knownNames } from '../../operation/field-names.ts';
import { positionText, type RowPosition } from '../../rows/problem.ts';
import type { Overflow } from '../../rows/record-pages.ts';
import type { CallableRow, DecidedRow, InvalidRow, LeftOut } from '../../rows/row.ts';
import { RowsSummary, type SummarizedRows } from '../../rows/rows-summary.ts';
import { columnWarnings, type ScanWarning } from '../columns/column-advice.ts';
import type { PreparedCall, PreparedRow, RowPreparer } from '../columns/row-preparer.ts';
import { pageWarning } from '../json/page.ts';
import type { Manifest, ManifestRow, RoundedIds, RowChoice } from '../manifest.ts';
import { type CallIdentity, CallIndex, type Conflict, type DoneRows } from './call-index.ts';
import { CellNotices, type NotedRows, noteRow } from './cell-notices.ts';
import { type ComparedCall, comparedCall, type RowComparer } from './compared-row.ts';
import { effectWarnings } from './option-effects.ts';

export interface ScanSummary extends SummarizedRows {
  /** How many subjects have different requests. 0 where conflicts are refused. */
  readonly changedSubjects: number;
  /** The first conflicts, at most five. */
  readonly firstConflicts: readonly Conflict[];
  /** The columns of the manifest, in order of first appearance. */
  readonly columns: readonly string[];
  /** The field of each column. Columns that are only kept for the report have none. */
  readonly meanings: readonly { readonly column: string; readonly field?: string }[];
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  /** The number of rows that `--where` leaves out; no other count includes them. */
  readonly leftOut: number;
  readonly roundedIds: readonly RoundedIds[];
  readonly choice: RowChoice | undefined;
}

/** The functions that get the rows. They are called in the order of rows, and awaited. */
export interface ScanHandlers {
  onInvalid?(row: InvalidRow): void | Promise<void>;
  onRow?(row: DecidedRow, given: ManifestRow): void | Promise<void> | undefined;
  /** Gets a row that conflicts with an earlier one. Such rows may be called, too. */
  onConflict?(conflict: Conflict): void | Promise<void>;
}

export interface ScanOptions {
  /** What to do about conflicting rows. Default: `refuse`. */
  readonly onConflict?: ConflictRule | undefined;
  /** Subjects that earlier runs have done, whose rows are left out. Default: none. */
  readonly done?: DoneRows | undefined;
  /** Idempotency keys of calls that earlier runs may have had processed: each row with such a call gets the key. Default: none. */
  readonly keys?:
    | { take(row: PreparedCall): { readonly key: string; readonly run: string } | undefined }
    | undefined;
  /** Compares rows with what the service lists. Default: rows are called as they are. */
  readonly comparer?: RowComparer | undefined;
  /** The earlier runs whose idempotency keys can't be read. */
  readonly unreadable?: readonly string[];
  /** For what finds duplicates and conflicts. Default: all of it is in memory. */
  readonly overflow?: Overflow | undefined;
}

type ScannedManifest = Pick<
  Manifest,
  'rows' | 'columns' | 'choice' | 'page' | 'roundedIds' | 'sheet' | 'whyEncodingUnused' | 'lettersOf'
>;

/**
 * Checks every row, and finds duplicates and conflicts. Takes memory for a chunk of rows, and 11 to 22 bytes for each callable row, beside 24
 * or 28 bytes that may overflow. Reads the manifest twice if the last row of each subject is needed.
 *
 * @throws CqbatchError (`usage`) when the manifest cannot be read to its end, errors of the handlers, and a `SystemError` of the overflow
 */
export function scanManifest(
  manifest: ScannedManifest,
  prepare: RowPreparer,
  handlers: ScanHandlers = {},
  { onConflict = 'refuse', done, keys, comparer, unreadable = [], overflow }: ScanOptions = {},
): Promise<ScanSummary> {
  return withScope(async (defer) => {
    const calls = new CallIndex(onConflict === 'refuse' ? 'any' : 'latest', overflow);
    defer(() => calls.close());
    const compare = (row: PreparedCall): ComparedCall => comparedCall(row, comparer, manifest, prepare);
    if (onConflict === 'last') await addAll(calls, manifest, prepare, { comparer, compare });
    const scan = new RowScan({
      done,
      keys,
      compare,
      judge: (call) => (onConflict === 'last' ? calls.judge(call) : calls.add(call)),
    });
    for await (const chunk of manifest.rows()) {
      for (const row of chunk) {
        scan.cells.noteRead(row);
        const prepared = prepare(row);
        const beginning = prepared.kind === 'callable' ? comparer?.begin(prepared.operation.name) : undefined;
        if (beginning !== undefined) await beginning;
        const { decidedRow, conflict } = scan.add(prepared);
        if (decidedRow.kind === 'invalid') await handlers.onInvalid?.(decidedRow);
        const pending = handlers.onRow?.(decidedRow, row);
        if (pending !== undefined) await pending;
        if (conflict !== undefined) await handlers.onConflict?.(conflict);
      }
    }
    const columns = manifest.columns();
    const names = knownNames(prepare.operations);
    const summary = scan.summary();
    const choice = manifest.choice?.();
    return {
      ...summary,
      changedSubjects: calls.changedSubjects,
      firstConflicts: scan.firstConflicts,
      columns,
      meanings: columns.map((column) => {
        const field = prepare.fieldOf(column);
        return names.has(field) ? { column, field } : { column };
      }),
      leftOut: choice?.leftOut ?? 0,
      choice,
      roundedIds: manifest.roundedIds?.() ?? [],
      warnings: [
        ...columnWarnings(columns, prepare, Object.keys(summary.perOperation)),
        ...hiddenWarnings(manifest, (column) => names.has(prepare.fieldOf(column))),
        ...scan.cells.warnings,
        ...keyWarnings(scan.keptKeys, unreadable),
        ...(comparer?.warnings() ?? []),
        ...pageWarnings(manifest.page, summary.rows + (choice?.leftOut ?? 0)),
        ...effectWarnings({
          whyEncodingUnused: manifest.whyEncodingUnused,
          choice,
          done,
          doneIn: summary.doneIn,
          prepare,
          callable: summary.callable,
          owners: scan.owners,
        }),
      ],
    };
  });
}

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
  { comparer, compare }: Pick<ScanOptions, 'comparer'> & Pick<RowScanOptions, 'compare'>,
): Promise<void> {
  for await (const chunk of manifest.rows()) {
    for (const row of chunk) {
      const prepared = prepare(row);
      if (prepared.kind === 'invalid') continue;
      await comparer?.begin(prepared.operation.name);
      const compared = compare(prepared);
      if (compared.kind === 'fits') calls.add(identityOf(compared.row));
    }
  }
}

function identityOf({ row, line, operation, subject, requestDigest: request }: CallableRow): CallIdentity {
  return { row, line, operation: operation.name, subject, request };
}

function keyWarnings(
  kept: ReadonlyMap<string, NotedRows>,
  unreadable: readonly string[],
): readonly ScanWarning[] {
  return [
    ...[...kept].map(([run, { rows, first }]) => ({
      code: 'KEY_KEPT' as const,
      message:
        `run ${run} may have done ${count(rows)} of these rows (first: ${positionText(first)}): sent with the Idempotency-Key that ` +
        `${rows === 1 ? 'it' : 'they'} had there, so that the API does nothing twice`,
    })),
    ...unreadable.map((run) => ({
      code: 'KEY_UNKNOWN' as const,
      message: `run ${run} can't be read: what it may have done is sent with new keys, and may be done twice`,
    })),
  ];
}

function pageWarnings(page: Manifest['page'], rows: number): readonly ScanWarning[] {
  const message = page && pageWarning(page, rows);
  return message === undefined ? [] : [{ code: 'ROWS_ON_OTHER_PAGES', message }];
}

const keptConflicts = 5;

interface JudgedCall {
  readonly decidedRow: DecidedRow;
  readonly conflict?: Conflict;
}

interface RowScanOptions extends Pick<ScanOptions, 'done' | 'keys'> {
  readonly compare: (row: PreparedCall) => ComparedCall;
  readonly judge: CallIndex['judge'];
}

class RowScan {
  readonly #summary = new RowsSummary();
  readonly firstConflicts: Conflict[] = [];
  readonly cells = new CellNotices();
  readonly owners = new Map<string, NotedRows>();
  readonly #options: RowScanOptions;
  /** Rows that keep an earlier idempotency key, by the run that has made the keys. */
  readonly keptKeys = new Map<string, NotedRows>();

  constructor(options: RowScanOptions) {
    this.#options = options;
  }

  add(row: PreparedRow): JudgedCall {
    const judged = row.kind === 'invalid' ? { decidedRow: row } : this.#decide(row);
    this.#summary.add(judged.decidedRow, judged.conflict !== undefined);
    return judged;
  }

  summary(): SummarizedRows {
    return this.#summary.summary();
  }

  #decide(given: PreparedCall): JudgedCall {
    const { done, compare, judge } = this.#options;
    const before = done?.find(identityOf(given));
    if (before !== undefined) return leftOutRow(given, { why: 'done', before });
    const compared = compare(given);
    if (compared.kind === 'invalid') return { decidedRow: compared };
    const { row, isAsWanted } = compared;
    const verdict = judge(identityOf(row));
    if (verdict.kind === 'duplicate') return leftOutRow(row, { why: 'duplicate', of: verdict.row });
    if (verdict.kind === 'superseded') return leftOutRow(row, { why: 'superseded', by: verdict.row });
    if (isAsWanted && verdict.kind === 'new') return leftOutRow(row, { why: 'as wanted' });
    this.cells.noteSent(row);
    for (const field of row.overriddenDefaults ?? []) noteRow(this.owners, field, row);
    const keyed = this.#withKey(row);
    return verdict.kind === 'conflict' ? this.#conflicting(keyed, verdict) : { decidedRow: keyed };
  }

  #withKey(row: PreparedCall): PreparedCall {
    const kept = this.#options.keys?.take(row);
    if (kept === undefined) return row;
    noteRow(this.keptKeys, kept.run, row);
    return { ...row, unclear: true, key: kept.key };
  }

  #conflicting(row: CallableRow, first: RowPosition): JudgedCall {
    const { operation, subject, line } = row;
    const both = { row: row.row, line, firstRow: first.row, firstLine: first.line };
    const conflict = { operation: operation.name, thing: operation.thing, subject, ...both };
    if (this.firstConflicts.length < keptConflicts) this.firstConflicts.push(conflict);
    return { decidedRow: row, conflict };
  }
}

function leftOutRow(
  {
    kind: _,
    requestDigest: __,
    paddedField: ___,
    overriddenDefaults: ____,
    unexpectedValues: _____,
    mayBeRounded: ______,
    ...row
  }: PreparedCall,
  because: LeftOut,
): JudgedCall {
  return { decidedRow: { ...row, kind: 'left out', because } };
}
