import { expect, test } from 'vitest';
import { perhapsCalled, unknownAttempt } from '../../../src/domain/attempts.ts';
import { type AttemptHistory, noHistory, type RowResult } from '../../../src/domain/terms.ts';
import type { BatchReturn, Leftover } from '../../../src/engine/queue/payload.ts';
import {
  mergeReturns,
  type RecollectedBatch,
  type Recollection,
  recollected,
} from '../../../src/engine/queue/recollection.ts';

const result = (row: number): RowResult => ({
  row,
  operation: 'restore-evaluation',
  outcome: 'succeeded',
  code: 'OK',
  message: '',
  attempts: 1,
  unclear: false,
});
const failedOnce: AttemptHistory = { attempts: 1, unprocessed: 0, unclear: false };
const intended = perhapsCalled(noHistory);
const doubtful: AttemptHistory = { ...failedOnce, unclear: true };
const left = (row: number, history?: AttemptHistory): Leftover => ({
  row,
  ...(history !== undefined && { history }),
  attemptsUsed: history?.attempts ?? 0,
  delayMs: 0,
});
const said = (results: readonly RowResult[], leftovers: readonly Leftover[]): BatchReturn => ({
  results,
  leftovers,
});
const untouched = said([], [left(1), left(2)]);

/** What becomes of rows 1 and 2 of a batch: `done`, or the attempts of a leftover, with a question mark when unclear. */
function fates(batch: Omit<RecollectedBatch, 'rows'>, recollection: Recollection): string[] {
  const { results, leftovers } = recollected({ rows: [1, 2], ...batch }, recollection);
  expect(results.length + leftovers.length).toBe(2);
  return [1, 2].map((row) => {
    if (results.some((each) => each.row === row)) return 'done';
    const { history } = leftovers.find((each) => each.row === row) ?? {};
    return `${history?.attempts ?? 0}${history?.unclear ? '?' : ''}`;
  });
}

const all: Recollection = { testimony: undefined, isCertain: true };
const some: Recollection = { testimony: undefined, isCertain: false };

test.each<[string, Omit<RecollectedBatch, 'rows'>, Recollection, string[]]>([
  ['no worker had it, and all workers live', { read: untouched }, all, ['0', '0']],
  ['no worker had it, but one is dead', { read: untouched }, some, ['1?', '1?']],
  [
    'a worker found it in another epoch, and all live',
    { read: untouched, returned: { ...untouched, isFound: true } },
    all,
    ['0', '0'],
  ],
  [
    'a worker found it in another epoch, but one is dead',
    { read: untouched, returned: { ...said([result(1)], [left(2)]), isFound: true } },
    some,
    ['done', '1?'],
  ],
  [
    'its worker returned it before anything was lost',
    { read: untouched, returned: said([result(1)], [left(2, failedOnce)]) },
    all,
    ['done', '1'],
  ],
  [
    'its worker returned it, but it may have been fed again since',
    { read: untouched, returned: said([result(1)], [left(2, failedOnce)]) },
    some,
    ['done', '2?'],
  ],
  [
    'its worker lives and says what it did, another is dead',
    { read: untouched },
    { testimony: said([result(1)], [left(2, failedOnce)]), isCertain: false },
    ['done', '1'],
  ],
  [
    'one of its workers lost it and says what it did, the other one is dead',
    { read: untouched, returned: said([], [left(1), left(2, doubtful)]) },
    { testimony: { ...said([result(1)], [left(2)]), isFound: true }, isCertain: false },
    ['done', '1?'],
  ],
  [
    'its worker lost it and says what it did, and all live',
    { read: untouched },
    { testimony: { ...said([result(1)], [left(2, failedOnce)]), isFound: true }, isCertain: true },
    ['done', '1'],
  ],
  [
    'its worker returned it and has forgotten what, and so has the datastore',
    { read: said([result(1)], [left(2)]), returned: { ...untouched, isFound: true } },
    { testimony: null, isCertain: true },
    ['done', '1?'],
  ],
  ['a row is marked already', { read: said([], [left(1, doubtful), left(2)]) }, some, ['1?', '1?']],
  ['the batch itself is lost', { read: said([], []) }, some, ['1?', '1?']],
])('of a batch of another epoch: %s', (_, batch, recollection, expected) => {
  expect(fates(batch, recollection)).toEqual(expected);
});

test('of two workers, each result counts, and of other rows what was called more often', () => {
  const one = said([result(1)], [left(2), left(3, failedOnce)]);
  const other = said([result(2)], [left(1), left(3)]);
  for (const merged of [mergeReturns(one, other), mergeReturns(other, one)])
    expect({
      done: merged.results.map(({ row }) => row).toSorted(),
      left: merged.leftovers,
    }).toEqual({ done: [1, 2], left: [left(3, failedOnce)] });
});

test('two workers that both lost a batch do not know its rows, but one of them may', () => {
  const lost: BatchReturn = { ...untouched, isFound: true };
  expect(mergeReturns(lost, lost).isFound).toBe(true);
  expect(mergeReturns(lost, untouched).isFound).toBeUndefined();
});

test.each<[string, Partial<RowResult>, Partial<RowResult>, Partial<RowResult>]>([
  ['the same', {}, {}, { attempts: 1, unclear: false }],
  ['the same, without a call', { attempts: 0 }, { attempts: 0 }, { attempts: 0, unclear: false }],
  [
    'that of a worker that took the row over, and of the one before',
    {},
    { attempts: 2, unclear: true, earlier: [unknownAttempt], finishedAt: '2026-01-01T00:00:30.000Z' },
    { attempts: 2, unclear: true },
  ],
  [
    'those of two workers that know nothing of each other',
    {},
    { finishedAt: '2026-01-01T00:00:30.000Z' },
    { attempts: 2, unclear: true },
  ],
])('of two results: %s', (_, first, second, merged) => {
  const [one, other] = [said([{ ...result(1), ...first }], []), said([{ ...result(1), ...second }], [])];
  for (const both of [mergeReturns(one, other), mergeReturns(other, one)])
    expect(both.results).toEqual([expect.objectContaining(merged)]);
});

test.each<[string, Leftover[], Partial<RowResult>]>([
  ['knows all calls', [left(1)], { attempts: 1, unclear: false }],
  ['does not know a call of another worker', [left(1, failedOnce)], { attempts: 2, unclear: true }],
  ['ends the intent that a ledger has kept', [left(1, intended)], { attempts: 1, unclear: false }],
  [
    'ends the intent after which another worker called',
    [
      left(1, {
        ...intended,
        attempts: 2,
        earlier: [...(intended.earlier ?? []), { at: '2026-01-01T00:00:00.000Z' }],
      }),
    ],
    { attempts: 2, unclear: true },
  ],
  ['ends one of two intents', [left(1, perhapsCalled(intended))], { attempts: 2, unclear: true }],
  ['is about another row', [left(2, failedOnce)], { attempts: 1, unclear: false }],
])('a merged result that %s', (_claim, leftovers, merged) => {
  const [one, other] = [said([result(1)], []), said([], leftovers)];
  for (const both of [mergeReturns(one, other), mergeReturns(other, one)])
    expect(both.results).toEqual([{ ...result(1), ...merged }]);
});
