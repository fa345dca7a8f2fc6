import { expect, test } from 'vitest';
import { guardCell } from '../../../src/base/text/formula-guard.ts';
import type { RowResult } from '../../../src/domain/terms.ts';
import { ReportCells } from '../../../src/engine/report/report-columns.ts';
import { callableRow } from '../../helpers/planned-row.ts';
import { resultOf } from '../journal/arbitraries.ts';

/** The result cells of a row without cells. */
function resultCells(result: RowResult, operationColumns: readonly string[]): readonly string[] {
  const options = { columns: [], clear_token: '<clear>', operations: [{ columns: operationColumns }] };
  return new ReportCells(options, guardCell).of({ row: callableRow(result.row), result });
}

test('a full result fills every cell', () => {
  const result = resultOf(17, {
    code: 'ALREADY_APPLIED',
    message: 'was not deleted any more',
    httpStatus: 409,
    attempts: 2,
    unclear: true,
    startedAt: '2026-01-01T00:00:00.000Z',
    finishedAt: '2026-01-01T00:00:09.000Z',
    durationMs: 40.6,
    requestId: '-req-1',
    columns: { score: '87.5' },
  });
  expect(resultCells(result, ['score', 'title'])).toEqual([
    ...['17', 'restore-evaluation', 'succeeded', 'ALREADY_APPLIED', 'was not deleted any more'],
    ...['409', '2', 'yes', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:09.000Z', '41'],
    ...["'-req-1", '87.5', ''],
  ]);
});

test.each([
  ['a text', ['a', 'b'], ['a', 'b']],
  ['an empty text, which clears its field', ['', 'b'], ['<clear>', 'b']],
  ['a text like the clear token', ['<clear>', 'b'], ["'<clear>", 'b']],
  ['a formula', ['=1+1', 'b'], ["'=1+1", 'b']],
  ['an absent cell', [null, 'b'], ['', 'b']],
  ['absent cells at the end', [], ['', '']],
])('the cells of a row are those of the manifest: %s', (_what, cells, expected) => {
  const columns = [{ title: 'note' }, { title: 'Titre', field: 'title' }];
  const report = new ReportCells({ columns, clear_token: '<clear>', operations: [] }, guardCell);
  expect(report.header.slice(0, 3)).toEqual(['note', 'Titre', '_row']);
  const line = { row: callableRow(1, cells), result: resultOf(1) };
  expect(report.of(line).slice(0, 3)).toEqual([...expected, '1']);
});

test.each([
  ['', 'same as row 3'],
  ['identical', 'identical; same as row 3'],
  ['same as row 3 of the manifest', 'same as row 3 of the manifest'],
])('the message %j of a duplicate names the row that was called', (message, expected) => {
  const result = resultOf(9, { outcome: 'duplicate', code: 'DUPLICATE', message, duplicateOf: 3 });
  expect(resultCells(result, [])[4]).toBe(expected);
});
