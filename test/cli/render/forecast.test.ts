import { expect, test } from 'vitest';
import { callsText } from '../../../src/cli/render/forecast.ts';
import type { CallableRow, PlannedOperation } from '../../../src/engine/rows/row.ts';
import { callable, renaming, summaryOf } from '../../engine/rows/decided-rows.ts';

const restoring: PlannedOperation = {
  name: 'restore-evaluation',
  thing: 'evaluation',
  subject: 'id',
  columns: [],
  fields: [{ name: 'id', required: true, undoable: false }],
};
const editing = { ...renaming, name: 'update-soundboard', thing: 'soundboard' };
const restore = { operation: restoring, values: { id: '7' } };
const edit = { operation: editing };
const clearing = { ...edit, values: { id: '7', title: '' } };

function rows(of: Partial<CallableRow>, count: number): readonly Partial<CallableRow>[] {
  return Array.from({ length: count }, () => of);
}

test.each<[text: string, rows: readonly Partial<CallableRow>[]]>([
  ['Nothing to call', []],
  ['1 call: restore evaluation 1', [restore]],
  ['1,200 calls: restore 1,200 evaluations', rows(restore, 1_200)],
  ['2 calls: update 1 soundboard in 2 calls', rows({ ...edit, subject: 'x' }, 2)],
  ['1 call: update soundboard 1 (clears title)', [clearing]],
  ['2 calls: update 2 soundboards (all clear title)', [clearing, clearing]],
  [
    '7 calls: restore 3 evaluations, update 4 soundboards (1 clears title)',
    [...rows(restore, 3), ...rows(edit, 3), clearing],
  ],
  ['5 calls: update 5 soundboards (2 clear title)', [clearing, clearing, ...rows(edit, 3)]],
  [
    '2 calls: mark read 2 messages',
    rows({ operation: { ...restoring, name: 'mark-read-message', thing: 'message' } }, 2),
  ],
  ['2 calls: close for 2 tickets', rows({ operation: { ...restoring, name: 'close', thing: 'ticket' } }, 2)],
])('says what will happen in one line: %s', (text, given) => {
  const calls = given.map((row, index) => ({
    ...callable,
    row: index + 1,
    subject: String(index + 1),
    ...row,
  }));
  expect(callsText(summaryOf(calls))).toBe(text);
});
