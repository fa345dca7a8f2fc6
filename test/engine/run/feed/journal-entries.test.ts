import { describe, expect, test } from 'vitest';
import { type AttemptHistory, noHistory } from '../../../../src/domain/terms.ts';
import type { JournalEntry } from '../../../../src/engine/journal/line.ts';
import { JournalState } from '../../../../src/engine/journal/state.ts';
import type { RowTask } from '../../../../src/engine/queue/payload.ts';
import {
  ended,
  lostSince,
  opened,
  returned,
  suspected,
  withHistory,
} from '../../../../src/engine/run/feed/journal-entries.ts';
import { resultOf } from '../../journal/arbitraries.ts';

const called = (attempts: number, unclear = false): AttemptHistory => ({ ...noHistory, attempts, unclear });
const fed = (row: number, to: string): JournalEntry => ({ type: 'fed', first: row, last: row, to });

/** A journal with these entries. */
function journalOf(...entries: JournalEntry[]): JournalState {
  const state = new JournalState();
  for (const [index, entry] of entries.entries()) state.apply(entry, index + 1);
  return state;
}

describe('rows that were fed to another epoch of the datastore are suspect', () => {
  const feedings = [fed(1, 'before'), fed(2, 'before'), fed(3, 'before'), fed(3, 'before')];

  test.each<[string, string | undefined, number[], number[]]>([
    ['if it does not hold them', 'now', [1], [2, 3]],
    ['if it holds them as they were when they were fed before', 'now', [1, 2, 3], [3]],
    ['and no others', 'before', [1], []],
    ['and without epochs, all that it does not hold', undefined, [1, 3], [2]],
  ])('%s', (_when, epoch, held, rows) => {
    const lost = lostSince(epoch, { held: new Set(held), taken: new Set() }, journalOf(...feedings));
    expect(lost).toEqual({ withKeys: [], withEpoch: rows });
  });
});

describe('rows of the same epoch that the datastore does not hold', () => {
  const added = (row: number): JournalEntry => ({ type: 'added', first: row, last: row });
  const back = (row: number): JournalEntry => ({ type: 'returned', first: row, last: row });
  const here = fed(1, 'now');

  test.each<[string, JournalEntry[], 'held' | 'taken' | undefined, number[]]>([
    ['are lost if they were added', [here, added(1)], undefined, [1]],
    ['never arrived if nothing says so', [here], undefined, []],
    ['never arrived if only an earlier batch did', [here, added(1), here], undefined, []],
    ['are not lost if they came back', [here, added(1), back(1)], undefined, []],
    ['are not lost if they were taken back', [here, added(1)], 'taken', []],
    ['unless it does', [here, here, added(1)], 'held', []],
  ])('%s', (_claim, entries, place, withKeys) => {
    const rows = {
      held: new Set<number>(),
      taken: new Set<number>(),
      ...(place && { [place]: new Set([1]) }),
    };
    expect(lostSince('now', rows, journalOf(...entries))).toEqual({ withKeys, withEpoch: [] });
  });

  test('are marked as perhaps called', () => {
    expect(suspected(1, journalOf(here, added(1)))).toMatchObject({ row: 1, history: called(1, true) });
  });
});

test('rows that come back without a call are returned, others not', () => {
  const leftovers = [1, 2, 4, 5].map((row) => ({
    row,
    attemptsUsed: 0,
    delayMs: 0,
    ...(row === 4 && { history: called(1) }),
  }));
  expect(returned(leftovers)).toEqual([
    { type: 'returned', first: 1, last: 2 },
    { type: 'returned', first: 5, last: 5 },
  ]);
});

describe('what an older copy of the datastore says of a row', () => {
  test.each<[string, AttemptHistory | undefined, AttemptHistory | undefined, AttemptHistory | undefined]>([
    ['is new', called(2), called(1), called(2)],
    ['is all that is known', called(1), undefined, called(1)],
    ['does not take back a call', called(1), called(2), called(2)],
    ['does not take back a mark', called(2), called(1, true), called(2, true)],
    ['is nothing', undefined, called(1), undefined],
  ])('%s', (_claim, history, known, kept) => {
    const journal = journalOf(...(known ? [{ type: 'open' as const, row: 7, history: known }] : []));
    const leftover = { row: 7, attemptsUsed: 0, delayMs: 0, ...(history && { history }) };
    expect(opened([leftover], journal)).toEqual(kept ? [{ type: 'open', row: 7, history: kept }] : []);
  });

  test.each([
    [1, { attempts: 1, unclear: false }],
    [2, { attempts: 2, unclear: true }],
  ])('ends it with all of the %i calls that the journal knows', (calls, known) => {
    const journal = journalOf({ type: 'open', row: 7, history: called(calls) });
    expect(ended(resultOf(7), journal)).toMatchObject({ result: known });
  });

  test('is not what the row is fed with again', () => {
    const task: RowTask = {
      run: 'r',
      row: 7,
      operation: 'restore-evaluation',
      subject: '1',
      values: {},
      requestDigest: '',
      history: called(1),
    };
    expect(withHistory(task, journalOf({ type: 'open', row: 7, history: called(2) })).history).toEqual(
      called(2),
    );
    expect(withHistory(task, journalOf())).toBe(task);
  });
});
