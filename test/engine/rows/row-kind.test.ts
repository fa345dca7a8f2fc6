import { expect, test } from 'vitest';
import type { UnderstoodRow } from '../../../src/engine/rows/row.ts';
import { changesOf, deedText, missingFields, rowKindOf, verbOf } from '../../../src/engine/rows/row-kind.ts';
import { invalidRow, leftOutRow } from '../../helpers/planned-row.ts';
import { callable, renaming } from './decided-rows.ts';

const title = { field: 'title', old: undefined, new: 'A' };

test.each<[what: string, row: Partial<UnderstoodRow>, changes: object[]]>([
  ['a row that gives a field', {}, [title]],
  ['one that clears it', { values: { id: '7', title: '' } }, [{ ...title, new: '' }]],
  ['one with an old value', { old: { title: 'B' } }, [{ ...title, old: 'B' }]],
  ['one that leaves the field out', { values: { id: '7' } }, []],
  [
    'a compared row that changes the field',
    { compared: true, old: { title: 'B' } },
    [{ ...title, old: 'B' }],
  ],
  ['a compared row with the field as it is', { compared: true, old: {} }, []],
])('says which fields a row changes: %s', (_, more, changes) => {
  const row = { ...callable, ...more };
  expect(changesOf(row)).toEqual(changes);
  expect(rowKindOf(row)).toBe(changes.length > 0 ? 'edit' : 'act');
});

test('says what becomes of rows that are not called', () => {
  const rows = [
    invalidRow(1),
    leftOutRow(2, { why: 'duplicate', of: 1 }),
    leftOutRow(3, { why: 'superseded', by: 4 }),
    leftOutRow(4, { why: 'as wanted' }),
    leftOutRow(5, { why: 'done', before: { source: 'r', row: 1 } }),
  ];
  expect(rows.map(rowKindOf)).toEqual(['invalid', 'duplicate', 'superseded', 'as wanted', 'done']);
});

test('says which fields the API may reset', () => {
  const partial = { ...callable, values: { id: '7' } };
  expect(missingFields(partial)).toEqual(['title']);
  expect(missingFields(callable)).toEqual([]);
  expect(missingFields({ ...partial, compared: true })).toEqual([]);
  expect(missingFields({ ...partial, operation: { ...renaming, mayReset: false } })).toEqual([]);
});

test.each([
  ['restore-evaluation', 'evaluation', 'restore', 'restore 2 things'],
  ['put-back-evaluation', 'evaluation', 'put back', 'put back 2 things'],
  ['close', 'ticket', 'close', 'close for 2 things'],
])('says in words what an operation does: %s', (name, thing, verb, deed) => {
  expect([verbOf({ name, thing }), deedText({ name, thing }, '2 things')]).toEqual([verb, deed]);
});
