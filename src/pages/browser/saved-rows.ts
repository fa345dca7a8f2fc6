import { guardCell, guardColumn } from '../../base/text/formula-guard.ts';
import { byteOrderMark, csvText } from '../../engine/report/csv-text.ts';
import type { Column, Rows } from './rows.ts';

/** Rows as a manifest for `cqbatch run`. Cells are guarded against formulas, and a column says so. */
export function refeedCsv(rows: Rows, selected: Uint32Array): string {
  const cells = rows.columns.filter(({ kind }) => kind === 'cell');
  const [row, code, message, unclear] = (['row', 'code', 'message', 'unclear'] as const).map((name) =>
    rows.fact(name),
  );
  const header = [
    ...cells.map(({ name }) => name),
    '_row',
    '_code',
    '_message',
    '_unclear',
    guardColumn(','),
  ];
  return csvOf(header, selected, (index) => [
    ...cells.map((column) => column.raw(index)),
    ...[row, code, message].map((column) => guardCell(column?.text(index) ?? '')),
    unclear?.text(index) === '' ? '' : 'yes',
    'yes',
  ]);
}

/** Rows as the table shows them, guarded against formulas. */
export function shownCsv(columns: readonly Column[], selected: Uint32Array): string {
  const header = columns.map(({ title }) => guardCell(title));
  return csvOf(header, selected, (index) => columns.map((column) => guardCell(column.shown(index))));
}

function csvOf(
  header: readonly string[],
  selected: Uint32Array,
  cellsOf: (index: number) => readonly string[],
): string {
  return byteOrderMark + csvText([header, ...Array.from(selected, cellsOf)]);
}
