import { byteOrderMark, csvText } from '../../base/text/delimiter.ts';
import { guardCell, guardColumn } from '../../base/text/formula-guard.ts';
import type { Column } from './column.ts';
import type { Rows } from './rows.ts';

type SavedColumn = readonly [header: string, text: (row: number) => string];

/** Rows as a manifest for `cqbatch run`. Cells are guarded against formulas, and a column says so. */
export function refeedCsv(rows: Rows, selected: Uint32Array): string {
  const cells = rows.columns.filter(({ kind }) => kind === 'cell');
  const facts = (['row', 'code', 'message'] as const).map((name): SavedColumn => {
    const { text } = rows.factColumn(name);
    return [`_${name}`, (row) => guardCell(text(row))];
  });
  return csvOf(selected, [
    ...cells.map(({ name, rawText }): SavedColumn => [name, rawText]),
    ...facts,
    ['_unclear', (row) => (rows.factColumn('unclear').text(row) === '' ? '' : 'yes')],
    [guardColumn(','), () => 'yes'],
  ]);
}

/** Rows as CSV with the texts of the table, guarded against formulas. */
export function shownCsv(columns: readonly Column[], selected: Uint32Array): string {
  const guarded = columns.map(
    ({ title, shown }): SavedColumn => [guardCell(title), (row) => guardCell(shown(row))],
  );
  return csvOf(selected, guarded);
}

function csvOf(selected: Uint32Array, columns: readonly SavedColumn[]): string {
  const header = columns.map(([title]) => title);
  const lines = Array.from(selected, (row) => columns.map(([, text]) => text(row)));
  return byteOrderMark + csvText([header, ...lines]);
}
