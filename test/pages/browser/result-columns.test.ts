import { expect, test } from 'vitest';
import { htmlOf } from '../../../src/engine/report/html/markup.ts';
import { cardColumns, resultsBeyondCells, tableColumns } from '../../../src/pages/browser/result-columns.ts';
import { Rows } from '../../../src/pages/browser/rows.ts';
import { resultOf } from '../../engine/journal/arbitraries.ts';
import { pageOf } from '../../helpers/page-lines.ts';
import { callableRow } from '../../helpers/planned-row.ts';

const operation = { name: 'o', thing: 'board', subject: 'id', columns: ['id', 'score'] };

/** Rows that are about the boards 41, 42, …, with the result column `id`. */
async function rowsWithIds(...ids: readonly string[]): Promise<Rows> {
  const lines = ids.map((id, index) => ({
    row: callableRow(index + 1, [String(41 + index)]),
    result: resultOf(index + 1, { columns: { id, score: '7' }, message: 'moved' }),
  }));
  return Rows.read(await pageOf([lines], { columns: ['id'], operations: [operation] }));
}

test('a result that repeats the cell of the same name in each row has no column of its own', async () => {
  const rows = await rowsWithIds('41', '', '43');
  expect(resultsBeyondCells(rows).map(({ name }) => name)).toEqual(['score']);
  const titles = tableColumns(rows, { operations: { o: operation } }).map(({ title }) => title);
  expect(titles.filter((title) => title === 'id')).toHaveLength(1);
});

test('a result that differs in one row has a column, and is told of that row only', async () => {
  const rows = await rowsWithIds('41', '99');
  expect(resultsBeyondCells(rows).map(({ name }) => name)).toEqual(['id', 'score']);
  expect(resultsBeyondCells(rows, 0).map(({ name }) => name)).toEqual(['score']);
  expect(resultsBeyondCells(rows, 1).map(({ name }) => name)).toEqual(['id', 'score']);
});

test('a row says beside its outcome whether it is unclear', async () => {
  const result = resultOf(1, { unclear: true, message: 'moved' });
  const parts = [
    [
      { row: callableRow(1, ['41']), result },
      { row: callableRow(2, ['42']), result: resultOf(2) },
    ],
  ];
  const rows = await Rows.read(await pageOf(parts, { columns: ['id'], operations: [operation] }));
  const outcome = tableColumns(rows, { operations: { o: operation } }).find(
    ({ id }) => id === 'fact outcome',
  );
  const marks = [0, 1].map((row) => htmlOf(outcome?.drawn?.(row)).includes('title="unclear"'));
  expect(marks).toEqual([true, false]);
});

test('a card has the entry, the outcome, the code and the message of a row', async () => {
  const [row, card] = cardColumns(await rowsWithIds('41'));
  expect(row?.text(0)).toBe('1');
  expect(card?.shown(0)).toBe('41 · succeeded · OK · moved');
});
