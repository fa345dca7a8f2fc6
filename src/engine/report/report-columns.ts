import { cellText, type Guard } from '../../base/text/formula-guard.ts';
import type { RowResult } from '../../domain/row-result.ts';
import type { Operation } from '../operation/operation.ts';
import type { RowsHead } from '../rows/head.ts';
import type { ReportLine } from './join-results.ts';

/** Unknown values and "no" are empty. */
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
    ['_request_id', ({ requestId = '' }, guard) => guard(requestId)],
  ];

export interface ReportCellOptions extends Pick<RowsHead, 'columns' | 'clear_token'> {
  readonly operations: readonly Pick<Operation, 'columns'>[];
}

/** Cells of the manifest, then of the result. */
export class ReportCells {
  readonly header: readonly string[];
  readonly #options: ReportCellOptions;
  readonly #guard: Guard;
  readonly #operationColumns: readonly string[];

  constructor(options: ReportCellOptions, guard: Guard) {
    const { columns, clear_token: clearToken, operations } = options;
    this.#options = options;
    this.#guard = guard;
    this.#operationColumns = columnsOf(operations);
    this.header = [
      ...columns.map(({ title }) => guard(title, { clearToken })),
      ...resultColumns.map(([name]) => name),
      ...this.#operationColumns.map((name) => guard(`_${name}`)),
    ];
  }

  of({ row: { cells }, result }: ReportLine): string[] {
    const { columns, clear_token: clearToken } = this.#options;
    return [
      ...columns.map((_, place) => cellText(cells[place], clearToken, this.#guard)),
      ...resultColumns.map(([, cell]) => cell(result, this.#guard)),
      ...this.#operationColumns.map((name) => this.#guard(result.columns?.[name] ?? '')),
    ];
  }
}

export function columnsOf(operations: ReportCellOptions['operations']): readonly string[] {
  return [...new Set(operations.flatMap(({ columns }) => columns))];
}

/** For a duplicate, names the row that was called. */
export function messageOf({ message, duplicateOf }: RowResult): string {
  if (duplicateOf === undefined) return message;
  const same = `same as row ${duplicateOf}`;
  if (message.includes(same)) return message;
  return message === '' ? same : `${message}; ${same}`;
}

export function flagCell(flag: boolean): string {
  return flag ? 'yes' : '';
}

function numberCell(value: number | undefined): string {
  return value === undefined ? '' : String(Math.round(value));
}
