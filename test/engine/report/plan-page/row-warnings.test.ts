import { expect, test } from 'vitest';
import { updateSoundboard } from '../../../../jobs/update-soundboard.ts';
import { RowWarnings } from '../../../../src/engine/report/plan-page/row-warnings.ts';
import type { CallableRow } from '../../../../src/engine/rows/row.ts';
import { callable, renaming } from '../../rows/decided-rows.ts';

function warningsOf(row: Partial<CallableRow>, operation = renaming as CallableRow['operation']) {
  const of = operation === updateSoundboard ? updateSoundboard : undefined;
  return new RowWarnings(false).warningsOf({ ...callable, operation, ...row }, of);
}

test('says what is odd about the values of a row', () => {
  expect(warningsOf({})).toEqual([]);
  expect(warningsOf({ values: { id: '7', title: 'N/A' } })).toEqual([
    { field: 'title', text: 'sent as it is; if it means nothing, empty the cell' },
  ]);
  expect(warningsOf({ values: { id: '7', title: 'Gr\ufffdn' } })).toEqual([
    { field: 'title', text: 'characters were lost before: export the data again' },
  ]);
  expect(warningsOf({ values: { soundboard_id: '7', date_created: 'yesterday' } }, updateSoundboard)).toEqual(
    [
      {
        field: 'date_created',
        text: 'not a time of RFC 3339, such as 2026-11-16T10:00:00Z: the API may drop or refuse it',
      },
    ],
  );
  expect(warningsOf({ unclear: true })).toEqual([
    { text: 'an earlier run may have done this already, without an answer' },
  ]);
});

test('a value that a compared row does not change is not odd', () => {
  const values = { id: '7', title: 'N/A' };
  expect(warningsOf({ values, compared: true, old: {} })).toEqual([]);
  expect(warningsOf({ values, compared: true, old: { title: 'A' } })).toHaveLength(1);
});

test('names the first row about the same entry', () => {
  const warnings = new RowWarnings(true);
  const row = (number: number, subject: string) =>
    warnings.warningsOf({ ...callable, row: number, subject }, undefined);
  expect([row(3, '7'), row(4, '8')]).toEqual([[], []]);
  expect(row(9, '7')).toEqual([{ text: 'row 3 is about entry 7, too' }]);
});
