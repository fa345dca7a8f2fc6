import type { RowResult } from '../domain.ts';
import { cellText, type Guard } from '../manifest/formula-guard.ts';
import type { ManifestRow } from '../manifest/manifest.ts';
import { incompleteReport } from './join-results.ts';

/** The manifest's own columns in report.csv. */
export class OriginalCells {
  readonly header: readonly string[];
  readonly #columns: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #clearToken: string;
  readonly #guard: Guard;

  constructor(columns: readonly string[], clearToken: string, guard: Guard) {
    this.header = columns.map((name) => guard(name, { clearToken }));
    this.#guard = guard;
    this.#columns = columns;
    this.#known = new Set(columns);
    this.#clearToken = clearToken;
  }

  /** @throws a fatal error `REPORT_INCOMPLETE` when the row has a cell of another column. */
  cells({ row, cells }: ManifestRow): readonly string[] {
    for (const name in cells) {
      if (!this.#known.has(name)) {
        throw incompleteReport(
          `row ${row} of the manifest has a column "${name}", unknown when the run began`,
        );
      }
    }
    return this.#columns.map((name) => cellText(cells[name], this.#clearToken, this.#guard));
  }
}

/** The columns of report.csv between the manifest's and the operations' own. What is not known is empty, so is "no". */
const resultColumns: readonly (readonly [name: string, cell: (result: RowResult, guard: Guard) => string])[] =
  [
    ['_row', ({ row }) => String(row)],
    ['_operation', ({ operation }, guard) => guard(operation)],
    ['_outcome', ({ outcome }) => outcome],
    ['_code', ({ code }, guard) => guard(code)],
    ['_message', (result, guard) => guard(messageOf(result))],
    ['_http_status', ({ httpStatus }) => numberCell(httpStatus)],
    ['_attempts', ({ attempts }) => String(attempts)],
    ['_unclear', ({ unclear }) => flagCell(unclear)],
    ['_started_at', ({ startedAt = '' }) => startedAt],
    ['_finished_at', ({ finishedAt = '' }) => finishedAt],
    ['_duration_ms', ({ durationMs }) => numberCell(durationMs)],
  ];

/** The names of the columns that report.csv adds to those of the manifest. */
export function resultHeader(operationColumns: readonly string[], guard: Guard): readonly string[] {
  return [...resultColumns.map(([name]) => name), ...operationColumns.map((name) => guard(`_${name}`))];
}

/** The cells under them. */
export function resultCells(
  result: RowResult,
  operationColumns: readonly string[],
  guard: Guard,
): readonly string[] {
  return [
    ...resultColumns.map(([, cell]) => cell(result, guard)),
    ...operationColumns.map((name) => guard(result.columns?.[name] ?? '')),
  ];
}

/** The message for people; that of a duplicate names the row that was called. */
export function messageOf({ message, duplicateOf }: RowResult): string {
  if (duplicateOf === undefined) return message;
  const same = `same as row ${duplicateOf}`;
  if (message.includes(same)) return message;
  return message === '' ? same : `${message}; ${same}`;
}

/** A flag for people and for programs. */
export function flagCell(flag: boolean): string {
  return flag ? 'yes' : '';
}

function numberCell(value: number | undefined): string {
  return value === undefined ? '' : String(Math.round(value));
}
