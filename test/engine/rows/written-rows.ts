import type { CellTexts, DecidedRow } from '../../../src/engine/rows/row.ts';
import { sumOf } from '../../../src/engine/rows/row-counts.ts';
import { type HeadFacts, RowsWriter, type WrittenRows } from '../../../src/engine/rows/rows-writer.ts';

import { leastOptions } from '../run/planned-record.ts';
import { summaryOf } from './decided-rows.ts';

/** What a plan of a small CSV file says of its rows. */
export const someFacts: Omit<HeadFacts, 'counts'> = {
  source: { name: 'a.csv', sha256: 'a'.repeat(64), bytes: 26, format: 'csv', delimiter: ',' },
  reading: {},
  clear_token: '<clear>',
  columns: [{ title: 'id', field: 'id' }, { title: 'Title', field: 'title' }, { title: 'note' }],
  defaults: {},
  left_out: 0,
  warnings: [],
  operation_source: 'option',
  options: JSON.parse(JSON.stringify(leastOptions)),
  made_at: '2026-11-26T12:00:00.000Z',
};

/** Writes rows into a file, as a plan does. */
export async function writeRows(
  path: string,
  rows: readonly DecidedRow[],
  {
    cells = () => [],
    ...facts
  }: Partial<HeadFacts> & { readonly cells?: (row: DecidedRow) => CellTexts } = {},
): Promise<WrittenRows> {
  const writer = new RowsWriter(path);
  for (const row of rows) await writer.add(row, cells(row));
  const summary = summaryOf(rows);
  return writer.end({ ...someFacts, counts: sumOf([summary]), ...facts }, summary.perOperation);
}
