import { describe, expect, test } from 'vitest';
import { noHistory } from '../../../../src/domain/attempts.ts';
import type { AttemptHistory, RowResult } from '../../../../src/domain/row-result.ts';
import { decodeResult, type JournalEntry, type ResultEntry } from '../../../../src/engine/journal/line.ts';
import { JournalState } from '../../../../src/engine/journal/state.ts';
import type { RowTask, UnfinishedRow } from '../../../../src/engine/queue/payload.ts';
import {
  entriesTheJournalLost,
  lostSince,
  mayHaveUnknownCalls,
  newResults,
  openEntries,
  possiblyCalledEntry,
  recoveryEntries,
  resultEntry,
  returnedEntries,
  withHistory,
} from '../../../../src/engine/run/feed/journal-entries.ts';
import { resultOf } from '../../journal/arbitraries.ts';
import { linesOf, taskOf } from '../../queue/tasks.ts';

const called = (attempts: number, unclear = false): AttemptHistory => ({ ...noHistory, attempts, unclear });
const fed = (row: number, to: string, batch = 'b'): JournalEntry => ({
  type: 'fed',
  first: row,
  last: row,
  batch,
  to,
});
const added = (row: number): JournalEntry => ({ type: 'added', first: row, last: row });
const back = (row: number): JournalEntry => ({ type: 'returned', first: row, last: row });
const open = (row: number, history: AttemptHistory): JournalEntry => ({ type: 'open', row, history });
const unfinishedRow = (row: number, history?: AttemptHistory): UnfinishedRow => ({
  row,
  attemptsUsed: 0,
  delayMs: 0,
  ...(history && { history }),
});

/** A journal with these entries. */
function journalOf(...entries: JournalEntry[]): JournalState {
  const state = new JournalState();
  for (const [index, entry] of entries.entries()) state.apply(entry, index + 1);
  return state;
}

/** The present epoch of a datastore; undefined when unknown. */
const epochNamed = (present: string | undefined) => ({
  isPresent: (epoch: string | undefined) => present !== undefined && epoch === present,
  isPast: (epoch: string | undefined) => present !== undefined && epoch !== present,
});
const now = epochNamed('now');
const nothing = { inDatastore: new Set<number>(), removed: new Set<number>(), traces: new Set<string>() };
const noKeys = new Set<string>();
const entryOf = (result: RowResult): ResultEntry => ({ type: 'row', result });

describe('of rows without a result that were fed', () => {
  test.each([
    { when: 'to another epoch', entries: [fed(1, 'before')], present: 'now', doubtful: true },
    { when: 'to the present epoch', entries: [fed(1, 'now')], present: 'now', doubtful: false },
    {
      when: 'to another epoch and to the present one',
      entries: [fed(1, 'before'), fed(1, 'now')],
      present: 'now',
      doubtful: false,
    },
    {
      when: 'to another epoch, and came back',
      entries: [fed(1, 'before'), back(1)],
      present: 'now',
      doubtful: false,
    },
    {
      when: 'to a datastore without epochs',
      entries: [fed(1, 'before')],
      present: undefined,
      doubtful: false,
    },
  ])('those $when are doubtful: $doubtful', ({ entries, present, doubtful }) => {
    expect(mayHaveUnknownCalls(1, journalOf(...entries), epochNamed(present))).toBe(doubtful);
  });

  test.each([
    { when: 'the epoch has changed', present: 'now', inDatastore: [1], lost: [2] },
    { when: 'nothing has changed', present: 'before', inDatastore: [1], lost: [] },
    { when: 'the epoch is unknown', present: undefined, inDatastore: [1], lost: [2] },
  ])(
    'those are lost, if $when, that the datastore does not hold: $lost',
    ({ present, inDatastore, lost }) => {
      const rows = { ...nothing, inDatastore: new Set(inDatastore) };
      const journal = journalOf(fed(1, 'before'), fed(2, 'before'));
      expect(lostSince(epochNamed(present), rows, journal)).toEqual({ withKeys: [], withEpoch: lost });
    },
  );
});

describe('rows of the same epoch that the datastore does not hold', () => {
  const here = fed(1, 'now');

  test.each<[string, JournalEntry[], 'inDatastore' | 'removed' | undefined, number[]]>([
    ['are lost if they were added', [here, added(1)], undefined, [1]],
    ['never arrived if nothing says so', [here], undefined, []],
    ['never arrived if only an earlier batch did', [here, added(1), here], undefined, []],
    ['are not lost if they came back', [here, added(1), back(1)], undefined, []],
    ['are not lost if they were taken back', [here, added(1)], 'removed', []],
    ['unless it does', [here, here, added(1)], 'inDatastore', []],
  ])('%s', (_claim, entries, place, withKeys) => {
    const rows = { ...nothing, ...(place && { [place]: new Set([1]) }) };
    expect(lostSince(now, rows, journalOf(...entries))).toEqual({ withKeys, withEpoch: [] });
  });

  test('are marked as perhaps called, with a result that is lost', () => {
    expect(possiblyCalledEntry(1, journalOf(here, added(1)))).toMatchObject({
      row: 1,
      history: { ...called(1, true), lastCode: 'RESULT_LOST' },
    });
  });
});

describe('the lines of results', () => {
  const [first, second] = linesOf(resultOf(1), resultOf(2));
  if (first === undefined || second === undefined) throw new TypeError('there are two results');
  const journal = journalOf(entryOf(resultOf(1)));

  test('are decoded unless the journal has a result of the row', () => {
    expect(newResults([{ row: 1, line: 'anything' }, second], journal, now, noKeys)).toEqual([
      decodeResult(second),
    ]);
  });

  test('go into the journal as they are, unless the result changes', () => {
    const entries = [journalOf(), journalOf(open(2, called(2)))].map((known) =>
      newResults([second], known, now, noKeys).map(({ line }) => line),
    );
    expect(entries).toEqual([[second.line], [undefined]]);
  });

  test.each([
    ['cut off', second.line.slice(0, -1)],
    ['of another row', first.line],
    ['not a result', '{"open":2,"tries":1}'],
    ['without a code', second.line.replace(/"code":"[^"]*",/, '')],
  ])('never get into the journal when it could not read them: %s', (_what, line) => {
    expect(() => newResults([{ row: 2, line }], journal, now, noKeys)).toThrow(
      expect.objectContaining({ kind: 'fatal', code: 'UNKNOWN_PAYLOAD' }),
    );
  });
});

test('rows that come back without a call are returned, others not', () => {
  const unfinishedRows = [1, 2, 4, 5].map((row) => unfinishedRow(row, row === 4 ? called(1) : undefined));
  expect(returnedEntries(unfinishedRows, journalOf(), now)).toEqual([
    open(4, called(1)),
    { type: 'returned', first: 1, last: 2 },
    { type: 'returned', first: 5, last: 5 },
  ]);
});

describe('of a doubtful row', () => {
  const journal = journalOf(fed(1, 'before'), fed(2, 'now'));

  test.each([
    { says: 'that it was not called', history: undefined, known: called(1, true) },
    { says: 'that it was called', history: called(1), known: called(2, true) },
    { says: 'that it may have been called', history: called(2, true), known: called(2, true) },
  ])('a batch that says $says does not say all', ({ history, known }) => {
    const lost = { ...known, lastCode: 'RESULT_LOST' };
    for (const entries of [openEntries, returnedEntries])
      expect(entries([unfinishedRow(1, history)], journal, now)).toMatchObject([{ row: 1, history: lost }]);
  });

  test('a result is unclear, unless a key makes all calls one', () => {
    const marks = [1, 2].map((row) =>
      [noKeys, new Set(['restore-evaluation'])].map((keyed) => {
        const result = { ...resultOf(row), operation: 'restore-evaluation' };
        return resultEntry(entryOf(result), journal, now, keyed).result.unclear;
      }),
    );
    expect(marks).toEqual([
      [true, false],
      [false, false],
    ]);
  });

  test('a failure is unclear even with a key', () => {
    const failed = { ...resultOf(1), outcome: 'failed' as const };
    expect(resultEntry(entryOf(failed), journal, now, new Set([failed.operation]))).toMatchObject({
      result: { unclear: true },
    });
  });
});

describe('what an older copy of the datastore says of a row', () => {
  test.each<[string, AttemptHistory | undefined, AttemptHistory | undefined, AttemptHistory | undefined]>([
    ['is new', called(2), called(1), called(2)],
    ['is all that is known', called(1), undefined, called(1)],
    ['does not take back a call', called(1), called(2), called(2)],
    ['does not take back a mark', called(2), called(1, true), called(2, true)],
    ['is nothing', undefined, called(1), undefined],
  ])('%s', (_claim, history, known, kept) => {
    const journal = journalOf(...(known ? [open(7, known)] : []));
    expect(openEntries([unfinishedRow(7, history)], journal, now)).toEqual(kept ? [open(7, kept)] : []);
  });

  test.each([
    [1, { attempts: 1, unclear: false }],
    [2, { attempts: 2, unclear: true }],
  ])('ends it with all of the %i calls that the journal knows', (calls, known) => {
    const journal = journalOf(open(7, called(calls)));
    expect(resultEntry(entryOf(resultOf(7)), journal, now, noKeys)).toMatchObject({ result: known });
  });

  test('is not what the row is fed with again', () => {
    const task: RowTask = { ...taskOf(7), history: called(1) };
    expect(withHistory(task, journalOf(open(7, called(2)))).history).toEqual(called(2));
    expect(withHistory(task, journalOf())).toBe(task);
  });
});

test('of several batches that a journal has lost, the one with the most calls of a row counts', () => {
  const unfinishedRows = [
    unfinishedRow(1, called(1)),
    unfinishedRow(1, called(2)),
    unfinishedRow(1),
    unfinishedRow(2, called(1)),
  ];
  const lost = { results: [], unfinishedRows, doubtfulRows: [3, 4] };
  const entries = entriesTheJournalLost(lost, new Set([2, 4]), journalOf());
  expect(entries).toEqual([open(1, called(2)), possiblyCalledEntry(3, journalOf())]);
});

test('before rows are fed again, the journal learns which are lost, and which an earlier coordinator took back', () => {
  const journal = journalOf(...[1, 2, 3].flatMap((row) => [fed(row, 'now'), added(row)]));
  const rows = { inDatastore: new Set([1]), removed: new Set([3]), traces: new Set<string>() };
  const lost = lostSince(now, rows, journal);
  expect(recoveryEntries(lost, rows.removed, journal, now)).toEqual([
    possiblyCalledEntry(2, journal),
    back(3),
  ]);
});

test('rows that never seem to have arrived are lost, if the datastore has a trace of their batch', () => {
  const journal = journalOf(fed(1, 'now', 'one'), fed(2, 'now', 'two'));
  expect(lostSince(now, nothing, journal).withKeys).toEqual([]);
  expect(lostSince(now, { ...nothing, traces: new Set(['two']) }, journal).withKeys).toEqual([2]);
});
