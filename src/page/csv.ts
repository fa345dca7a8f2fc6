import { guardColumn } from '../manifest/formula-guard.ts';
import { byteOrderMark, csvText } from '../report/csv-text.ts';
import type { Rows } from './rows.ts';

/** Rows as a manifest that `cqbatch plan` and `cqbatch run` take: their cells are guarded against formulas, and say so. */
export function refeedCsv(rows: Rows, selected: Uint32Array): string {
  const cells = rows.columns.filter(({ kind }) => kind === 'cell');
  const records = [
    [...cells.map(({ name }) => name), '_row', '_code', guardColumn(',')],
    ...Array.from(selected, (row) => [
      ...cells.map((column) => column.raw(row)),
      rows.fact('row').raw(row),
      rows.fact('code').raw(row),
      'yes',
    ]),
  ];
  return byteOrderMark + csvText(records);
}
