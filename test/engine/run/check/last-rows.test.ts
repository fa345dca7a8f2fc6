import { expect, test } from 'vitest';
import type { RowResult } from '../../../../src/domain/row-result.ts';
import { LastRows } from '../../../../src/engine/run/check/last-rows.ts';
import { callableRow } from '../../../helpers/planned-row.ts';

/** A row for the entry 7, unless it says otherwise. */
function line(row: number, result: Partial<RowResult>, subject = '7') {
  return {
    row: callableRow(row, [], { subject }),
    result: {
      row,
      operation: 'restore-evaluation',
      outcome: 'succeeded',
      code: 'OK',
      message: '',
      attempts: 1,
      unclear: false,
      ...result,
    } satisfies RowResult,
  };
}

const at = (second: number) => ({ finishedAt: `2026-11-16T10:00:0${second}.000Z` });

test.each([
  { rows: 'two that succeeded', first: at(1), second: at(2), overtaken: [true, false] },
  { rows: 'two of one moment', first: at(1), second: at(1), overtaken: [true, false] },
  { rows: 'an earlier one that a retry called last', first: at(3), second: at(2), overtaken: [false, true] },
  {
    rows: 'a later one that was refused',
    first: at(1),
    second: { ...at(2), outcome: 'failed' },
    overtaken: [false, false],
  },
  {
    rows: 'a later one that may have been processed',
    first: at(1),
    second: { ...at(2), outcome: 'failed', unclear: true },
    overtaken: [true, false],
  },
  {
    rows: 'a refused one before one that succeeded',
    first: { ...at(1), outcome: 'failed' },
    second: at(2),
    overtaken: [true, false],
  },
  {
    rows: 'a pending one without a time after one that succeeded',
    first: at(1),
    second: { outcome: 'pending' },
    overtaken: [false, true],
  },
] as const)('of $rows, the last one decides', ({ first, second, overtaken }) => {
  const lines = [line(1, first), line(2, second)];
  const last = new LastRows();
  for (const each of lines) last.add(each);
  expect(lines.map((each) => last.isOvertaken(each))).toEqual(overtaken);
});

test('rows of different entries overtake nothing', () => {
  const lines = [line(1, at(1)), line(2, at(2), '8')];
  const last = new LastRows();
  for (const each of lines) last.add(each);
  expect(lines.map((each) => last.isOvertaken(each))).toEqual([false, false]);
});
