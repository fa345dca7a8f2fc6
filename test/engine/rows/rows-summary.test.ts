import { expect, test } from 'vitest';
import type { CallableRow, DecidedRow, LeftOut, PlannedOperation } from '../../../src/engine/rows/row.ts';
import { callable, renaming, summaryOf } from './decided-rows.ts';

const deleting: PlannedOperation = {
  name: 'delete',
  thing: 'file',
  subject: 'id',
  columns: [],
  fields: [{ name: 'id', required: true, undoable: false }],
};

const { requestDigest: _, ...understood } = callable;

function call(row: number, subject: string, more: Partial<CallableRow> = {}): CallableRow {
  return { ...callable, row, line: row + 1, subject, ...more };
}

function leftOut(row: number, because: LeftOut): DecidedRow {
  return { ...understood, kind: 'left out', row, because };
}

const invalid = (row: number, operation?: PlannedOperation): DecidedRow => ({
  kind: 'invalid',
  row,
  line: row + 1,
  problems: [{ problem: 'is bad' }],
  ...(operation && { operation }),
});

const doneIn = (source: string): LeftOut => ({ why: 'done', before: { source, row: 9 } });

const rows: readonly DecidedRow[] = [
  invalid(1),
  invalid(2, renaming),
  call(3, '7'),
  call(4, '8', { values: { id: '8', title: '' } }),
  call(5, '7', { values: { id: '7' } }),
  leftOut(6, { why: 'duplicate', of: 3 }),
  leftOut(7, { why: 'superseded', by: 8 }),
  leftOut(8, doneIn('monday')),
  leftOut(9, doneIn('old.csv')),
  leftOut(10, doneIn('monday')),
  // Another operation has subjects of its own.
  call(11, '7', { operation: deleting, values: { id: '7' } }),
  call(12, '7', { values: { id: '7', title: 'Z' } }),
];

const none = {
  invalid: 0,
  duplicates: 0,
  superseded: 0,
  doneBefore: 0,
  asWanted: 0,
  conflicts: 0,
  partial: 0,
};

test('adds up decided rows, in all and by operation', () => {
  expect(summaryOf(rows)).toEqual({
    rows: 12,
    callable: 5,
    invalid: 2,
    duplicates: 1,
    superseded: 1,
    doneBefore: 3,
    asWanted: 0,
    conflicts: 2,
    partial: 1,
    changedSubjects: 1,
    perOperation: {
      rename: {
        rows: 10,
        callable: 4,
        invalid: 1,
        duplicates: 1,
        superseded: 1,
        doneBefore: 3,
        asWanted: 0,
        conflicts: 2,
        partial: 1,
        thing: 'entry',
        first: { row: 3, subject: '7' },
        last: { row: 12, subject: '7' },
        fields: { title: { given: 3, cleared: 1, absent: 1 } },
      },
      delete: {
        ...none,
        rows: 1,
        callable: 1,
        thing: 'file',
        fields: {},
        first: { row: 11, subject: '7' },
        last: { row: 11, subject: '7' },
      },
    },
    doneIn: new Map(Object.entries({ monday: 2, 'old.csv': 1 })),
    preview: [rows[2], rows[3], rows[4], rows[10], rows[11]],
  });
});

test('keeps the first ten rows of each operation', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  const { preview } = summaryOf(
    hundred.map((row) => call(row, String(row), row > 50 ? { operation: deleting } : {})),
  );
  const ten = Array.from({ length: 10 }, (_, index) => index + 1);
  expect(preview.map(({ row }) => row)).toEqual([...ten, ...ten.map((row) => row + 50)]);
});
