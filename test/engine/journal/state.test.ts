import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowResult } from '../../../src/domain/row-result.ts';
import { outcomes } from '../../../src/domain/terms.ts';
import type { JournalEntry } from '../../../src/engine/journal/line.ts';
import { JournalState } from '../../../src/engine/journal/state.ts';
import { anyEntry, finished } from './arbitraries.ts';

function stateOf(...entries: readonly JournalEntry[]): JournalState {
  const state = new JournalState();
  for (const [index, entry] of entries.entries()) state.apply(entry, index + 1);
  return state;
}

const fed = (first: number, last: number): JournalEntry => ({ type: 'fed', first, last, batch: 'b' });
const open = (row: number, attempts = 1): JournalEntry => ({
  type: 'open',
  row,
  history: { attempts, unprocessed: 0, unclear: false },
});
const added = (first: number, last: number): JournalEntry => ({ type: 'added', first, last });
const returned = (first: number, last: number): JournalEntry => ({ type: 'returned', first, last });
const settled: JournalEntry = { type: 'settled' };

test.each<[string, JournalEntry[], number[]]>([
  ['once it is fed', [fed(2, 4)], [2, 3, 4]],
  ['until it is finished', [fed(2, 4), finished(3)], [2, 4]],
  ['until it is opened', [fed(2, 4), open(4)], [2, 3]],
  ['until it is returned', [fed(2, 4), added(2, 4), returned(3, 4)], [2]],
  ['again when it is fed again after it was returned', [fed(2, 4), returned(2, 4), fed(3, 3)], [3]],
  ['until all is settled', [fed(2, 4), settled], []],
  ['again when it is fed again after it was opened', [fed(2, 4), open(3), settled, fed(3, 3)], [3]],
  ['not when it is fed after it was finished', [finished(3), fed(2, 4)], [2, 4]],
  ['once, although it is fed twice', [fed(2, 3), fed(3, 4)], [2, 3, 4]],
])('a row is unsettled %s', (_claim, entries, rows) => {
  const state = stateOf(...entries);
  expect([...state.unsettledRows()]).toEqual(rows);
  expect([1, 2, 3, 4, 5].filter((row) => state.isUnsettled(row))).toEqual(rows);
});

test.each<[string, JournalEntry[], number[]]>([
  ['since the datastore said so', [fed(2, 4), added(2, 3)], [2, 3]],
  ['not before it says so of the latest feeding', [fed(2, 4), added(2, 4), fed(4, 4)], [2, 3]],
  ['no longer when it is finished or returned', [fed(2, 4), added(2, 4), finished(2), returned(4, 4)], [3]],
  ['not when it is returned before the datastore says so', [fed(2, 4), returned(2, 4), added(2, 4)], []],
])('an unsettled row is added %s', (_claim, entries, rows) => {
  const state = stateOf(...entries);
  expect([1, 2, 3, 4, 5].filter((row) => state.isAdded(row))).toEqual(rows);
});

test.each<[string, JournalEntry[], number | undefined]>([
  ['comes from the latest entry', [open(1, 1), open(1, 3)], 3],
  ['outlives settling', [open(1, 2), settled], 2],
  ['ends when the row is finished', [open(1, 2), finished(1)], undefined],
  ['does not come back after that', [finished(1), open(1, 2)], undefined],
])('a history %s', (_claim, entries, attempts) => {
  expect(stateOf(...entries).history(1)?.attempts).toBe(attempts);
});

describe('the failures for the guards', () => {
  const failed = (row: number, code = 'NOT_FOUND') => finished(row, { outcome: 'failed', code });

  test('are counted in the order of the journal, for rows that were called', () => {
    const skipped = finished(4, { outcome: 'skipped', code: 'DONE_BEFORE' });
    const { failures } = stateOf(failed(9), failed(3), skipped, finished(7), failed(8), failed(8), failed(2));
    expect(failures).toMatchObject({ since: 'start', finished: 5, failed: 4 });
    expect(failures.codes.mostFrequent).toMatchObject({ code: 'NOT_FOUND', rows: 4, example: { row: 9 } });
  });

  test('start again where a user has accepted the failures', () => {
    const { failures } = stateOf(failed(1), failed(2, 'A'), { type: 'accepted' }, failed(3, 'B'));
    expect(failures).toMatchObject({ since: 'resume', finished: 1, failed: 1 });
    expect(failures.codes.mostFrequent).toMatchObject({ code: 'B', rows: 1 });
  });
});

test('an operation is proven by a row that the API has accepted, and by no other', () => {
  const state = stateOf(
    finished(1, { operation: 'a' }),
    finished(2, { operation: 'b', outcome: 'failed', code: 'NOT_FOUND' }),
    finished(3, { operation: 'c', code: 'ALREADY_APPLIED' }),
  );
  expect([...state.provenOperations]).toEqual(['a']);
});

test('the counts are of the first results, a second result of a row changes nothing', () => {
  fc.assert(
    fc.property(fc.array(anyEntry(30), { maxLength: 60 }), (entries) => {
      const state = stateOf(...entries);
      const first = new Map<number, RowResult>();
      const offsets = new Map<number, number>();
      for (const [index, entry] of entries.entries()) {
        if (entry.type !== 'row' || first.has(entry.result.row)) continue;
        first.set(entry.result.row, entry.result);
        offsets.set(entry.result.row, index + 1);
      }
      const results = [...first.values()];
      expect(state.finishedCount).toBe(results.length);
      expect(state.unclearCount).toBe(results.filter(({ unclear }) => unclear).length);
      expect(state.lastRow).toBe(Math.max(0, ...first.keys()));
      for (const outcome of outcomes) {
        const count = results.filter((result) => result.outcome === outcome).length;
        expect(state.outcomeCounts[outcome]).toBe(count);
        const perCode = state.codeCounts.filter((entry) => entry.outcome === outcome);
        expect(perCode.reduce((sum, entry) => sum + entry.count, 0)).toBe(count);
        const unclear = results.filter((result) => result.outcome === outcome && result.unclear).length;
        expect(perCode.reduce((sum, entry) => sum + (entry.unclear ?? 0), 0)).toBe(unclear);
      }
      for (let row = 1; row <= 31; row++) expect(state.offset(row)).toBe(offsets.get(row));
    }),
  );
});
