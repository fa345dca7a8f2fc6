import { describe, expect, test } from 'vitest';
import { type AttemptHistory, noHistory } from '../../../../src/domain/terms.ts';
import type { JournalEntry } from '../../../../src/engine/journal/line.ts';
import { JournalState } from '../../../../src/engine/journal/state.ts';
import type { RowTask } from '../../../../src/engine/queue/payload.ts';
import { ended, lostSince, opened, withHistory } from '../../../../src/engine/run/feed/journal-entries.ts';
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
    expect(lostSince(epoch, new Set(held), journalOf(...feedings))).toEqual(
      rows.map((row) => ({ type: 'open', row, history: expect.objectContaining(called(1, true)) })),
    );
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
