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

test.each([
  ['', 'same as row 3'],
  ['identical', 'identical; same as row 3'],
  ['same as row 3 of the manifest', 'same as row 3 of the manifest'],
])('the message %j of a duplicate names the row that was called', (message, expected) => {
  const result = resultOf(9, { outcome: 'duplicate', code: 'DUPLICATE', message, duplicateOf: 3 });
  expect(resultCells(result, [])[4]).toBe(expected);
});
