import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestText } from '../../../../src/engine/operation/request-definition.ts';
import type { DecidedRow } from '../../../../src/engine/rows/row.ts';
import { planColumns } from '../../../../src/pages/browser/plan/plan-columns.ts';
import { PlanRows } from '../../../../src/pages/browser/plan/plan-rows.ts';
import { anyCharacter } from '../../../any-character.ts';
import { anyText } from '../../../engine/journal/arbitraries.ts';
import { invalidRow, leftOutRow } from '../../../helpers/planned-row.ts';
import { act, edit, plannedPage, rename } from './planned-page.ts';

const rows: readonly DecidedRow[] = [
  act(1, 'e-1'),
  edit(2, { id: 'e-2', title: 'New', note: '' }, { old: { title: 'Old' } }),
  {
    ...invalidRow(3),
    operation: rename,
    problems: [
      { column: 'ID', problem: 'must be shorter', value: 'e-3e-3' },
      { column: 'Title', problem: 'is missing' },
    ],
  },
  {
    ...edit(4, { id: 'e-2', title: 'New' }),
    ...leftOutRow(4, { why: 'duplicate', of: 2 }),
    operation: rename,
    values: { id: 'e-2', title: 'New' },
  },
  edit(5, { id: 'e-5', title: 'N/A' }, { compared: true, old: { title: 'Old' } }),
];

async function table(): Promise<PlanRows> {
  return PlanRows.read(
    await plannedPage(rows, ({ row }) =>
      row === 3 ? ['e-3e-3', null, null, 'x'] : ['', '', null, `agent ${row}`],
    ),
  );
}

test('the table has a line for each change and each problem', async () => {
  const read = await table();
  const { wide } = planColumns(read);
  const lines = Array.from({ length: read.lines }, (_, line) =>
    wide.map((column) => column.shown(line)).join(' | '),
  );
  expect(lines).toEqual([
    '1 | restore | e-1 |  | restored',
    '2 | edit | e-2 | title | Old → New',
    '2 | edit | e-2 | note | ? → (cleared)',
    '3 | invalid | e-3e-3 | ID | e-3e-3: must be shorter',
    '3 | invalid | e-3e-3 | Title | is missing',
    '4 | duplicate | e-2 |  | same request as row 2, which is called',
    '5 | edit | e-5 | title | Old → N/A; sent as it is; if it means nothing, empty the cell',
  ]);
});

test.each([
  ['all', '', [1, 2, 2, 3, 3, 4, 5]],
  ['act restore-board', '', [1]],
  ['edit', '', [2, 2, 5]],
  ['clears', '', [2, 2]],
  ['warned', '', [5]],
  ['invalid', '', [3, 3]],
  ['duplicate', '', [4]],
  ['all', 'agent "agent 4"', [4]],
  ['edit', 'cleared', [2]],
  ['partial', '', []],
])('a chip and words choose rows: %s, %j', async (group, words, numbers) => {
  const read = await table();
  const lines = read.select(words, group, planColumns(read).wide);
  expect(Array.from(lines, (line) => read.rowOf(line).row)).toEqual(numbers);
  expect(read.rowsAmong(lines)).toBe(new Set(numbers).size);
});

test('what Node packs is what the page reads: values, cells and requests, whatever their texts are', async () => {
  const row = fc.record({
    // A path has no lone surrogates.
    id: fc.string({ unit: anyCharacter }),
    title: anyText,
    old: anyText,
    agent: anyText,
    knowsOld: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 10 }), async (all) => {
      const planned = all.map(({ id, title, old, knowsOld }, index) =>
        edit(index + 1, { id, title }, knowsOld ? { old: { title: old } } : {}),
      );
      const read = await PlanRows.read(
        await plannedPage(planned, ({ row: number }) => {
          const { id = '', title = '', old = '', agent = '' } = all[number - 1] ?? {};
          return [id, title, old, agent];
        }),
      );
      for (const [index, { id, title, old, agent, knowsOld }] of all.entries()) {
        const { values, changes, cells, subject } = read.row(index);
        expect([subject, ...values]).toEqual([id, id, title, undefined]);
        expect(changes).toEqual([{ field: 'title', old: knowsOld ? old : undefined, new: title }]);
        expect(cells.map(({ text }) => text)).toEqual([id, title, old, agent]);
        const request = requestText(rename.request({ id, title }));
        expect(read.requestOf(read.row(index))).toBe(request.replace('PUT /', 'PUT https://api.example/'));
      }
    }),
    { numRuns: 40 },
  );
});
