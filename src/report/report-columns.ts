import type { RowResult } from '../domain.ts';
import { cellText, type Guard } from '../manifest/formula-guard.ts';
import type { Operation } from '../operation/operation.ts';
import { incompleteReport, type ReportLine } from './join-results.ts';

/** The columns of report.csv between those of the manifest and those of the operations. Unknown values and "no" are empty. */
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

export interface ReportCellOptions {
  /** Original column names, in order. */
  readonly columns: readonly string[];
  /** The token that stands for the empty string. */
  readonly clearToken: string;
  /** The operations that occur in the run. */
  readonly operations: readonly Pick<Operation, 'columns'>[];
}

/** The cells of report.csv: those of the manifest, then the result. */
export class ReportCells {
  readonly header: readonly string[];
  readonly #options: ReportCellOptions;
  readonly #guard: Guard;
  readonly #known: ReadonlySet<string>;
  readonly #operationColumns: readonly string[];

  constructor(options: ReportCellOptions, guard: Guard) {
    const { columns, clearToken, operations } = options;
    this.#options = options;
    this.#guard = guard;
    this.#known = new Set(columns);
    this.#operationColumns = columnsOf(operations);
    this.header = [
      ...columns.map((name) => guard(name, { clearToken })),
      ...resultColumns.map(([name]) => name),
      ...this.#operationColumns.map((name) => guard(`_${name}`)),
    ];
  }

  /** @throws a fatal error `REPORT_INCOMPLETE` when the row has a cell of an unknown column. */
  of({ row: { row, cells }, result }: ReportLine): string[] {
    const { columns, clearToken } = this.#options;
    for (const name in cells)
      if (!this.#known.has(name))
        throw incompleteReport(
          `row ${row} of the manifest has a column "${name}" that was unknown when the run started`,
        );
    return [
      ...columns.map((name) => cellText(cells[name], clearToken, this.#guard)),
      ...resultColumns.map(([, cell]) => cell(result, this.#guard)),
      ...this.#operationColumns.map((name) => this.#guard(result.columns?.[name] ?? '')),
    ];
  }
}

/** Names of the result columns of operations. */
export function columnsOf(operations: ReportCellOptions['operations']): readonly string[] {
  return [...new Set(operations.flatMap(({ columns }) => columns))];
}

/** The message of a result. For a duplicate, it names the row that was called. */
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
