import type { RowResult } from '../domain.ts';
import { guardCell } from '../manifest/formula-guard.ts';

/** The columns of report.csv between the manifest's and the operations' own. */
const columns = [
  '_row',
  '_operation',
  '_outcome',
  '_code',
  '_message',
  '_http_status',
  '_attempts',
  '_unclear',
  '_started_at',
  '_finished_at',
  '_duration_ms',
] as const;

/** The names of the columns that report.csv adds to those of the manifest. */
export function resultHeader(operationColumns: readonly string[]): readonly string[] {
  return [...columns, ...operationColumns.map((name) => guardCell(`_${name}`))];
}

/** The cells under them. What is not known is empty, and so is "no". */
export function resultCells(result: RowResult, operationColumns: readonly string[]): readonly string[] {
  const cells = [
    String(result.row),
    guardCell(result.operation),
    result.outcome,
    guardCell(result.code),
    guardCell(messageOf(result)),
    numberCell(result.httpStatus),
    String(result.attempts),
    flagCell(result.unclear),
    result.startedAt ?? '',
    result.finishedAt ?? '',
    numberCell(result.durationMs),
  ];
  for (const name of operationColumns) cells.push(guardCell(result.columns?.[name] ?? ''));
  return cells;
}

/** The message for people; that of a duplicate names the row that was called. */
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
