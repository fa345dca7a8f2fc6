import { cellText, type Guard } from '../../base/text/formula-guard.ts';
import { type RowResult, resultColumns } from '../../domain/row-result.ts';
import type { Operation } from '../operation/operation.ts';
import type { RowsHead } from '../rows/head.ts';
import type { ReportLine } from './join-results.ts';

export interface ReportCellOptions extends Pick<RowsHead, 'columns' | 'clear_token'> {
  readonly operations: readonly Pick<Operation, 'columns'>[];
}

/** Makes the cells of a row in a report: those of the manifest, then those of the result. */
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
      ...resultColumns.map(([column]) => `_${column}`),
      ...this.#operationColumns.map((name) => guard(`_${name}`)),
    ];
  }

  cellsOf({ row: { cells }, result }: ReportLine): string[] {
    const { columns, clear_token: clearToken } = this.#options;
    return [
      ...columns.map((_, place) => cellText(cells[place], clearToken, this.#guard)),
      ...resultColumns.map(([, member]) => this.#guard(textOf(result, member))),
      ...this.#operationColumns.map((name) => this.#guard(result.columns?.[name] ?? '')),
    ];
  }
}

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

export function flagCell(flag: boolean): string {
  return flag ? 'yes' : '';
}

/** The text of a member in a report. Unknown values and "no" are empty. */
function textOf(result: RowResult, member: (typeof resultColumns)[number][1]): string {
  const value = member === 'message' ? messageOf(result) : result[member];
  if (typeof value === 'boolean') return flagCell(value);
  if (typeof value === 'number') return String(Math.round(value));
  return typeof value === 'string' ? value : '';
}
