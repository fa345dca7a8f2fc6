import { join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreEvaluation } from '../../../../jobs/restore-evaluation.ts';
import { updateSoundboard } from '../../../../jobs/update-soundboard.ts';
import type { EntryLists } from '../../../../src/engine/list/entry-lists.ts';
import { requestDigest } from '../../../../src/engine/operation/shown-request.ts';
import { type RetryChoice, writeRetryRows } from '../../../../src/engine/run/plan/retry-run.ts';
import { hasRowsToRetry } from '../../../../src/engine/run/plan/rows-with-results.ts';
import type { RunRecord } from '../../../../src/engine/run/record/record.ts';
import { withJournalReader } from '../../../../src/engine/run/record/run-journal.ts';
import type { RunStore } from '../../../../src/engine/run/record/store.ts';
import { listsOf } from '../../list/listed-in-memory.ts';
import { leastOptions } from '../planned-record.ts';
import { endedRetry, endedRun, rowsIn } from './ended-run.ts';

const failed = { outcome: 'failed', code: 'UNAVAILABLE' } as const;
const unclear = { ...failed, unclear: true } as const;
const notFound = { outcome: 'failed', code: 'NOT_FOUND' } as const;

const evaluation = (id: number, user = 'u') => ({ evaluation_id: id, user_id: user, note: `n${id}` });

const evaluations = (count: number) => Array.from({ length: count }, (_, index) => evaluation(index + 1));

async function retryOf(
  store: RunStore,
  record: RunRecord,
  later: readonly RunRecord[] = [],
  choice: RetryChoice = {},
  lists?: EntryLists,
) {
  const path = join(store.stateDir, 'retry.jsonl');
  const retry = await writeRetryRows(store, record, later, choice, { options: leastOptions, path, lists });
  return { path, retry, rows: await rowsIn(path) };
}

test('failed rows are called again as they were, with the numbers of the user’s manifest', async () => {
  const { store, record } = await endedRun(
    [evaluation(1), evaluation(2), evaluation(2), { evaluation_id: 'x' }, evaluation(5), evaluation(6)],
    { others: { 2: failed, 5: unclear } },
  );
  const { retry, rows } = await retryOf(store, record);
  expect(rows).toMatchObject([
    {
      place: 1,
      row: 2,
      line: 2,
      kind: 'callable',
      subject: '2',
      cells: ['2', 'u', 'n2'],
      requestDigest: requestDigest(restoreEvaluation.request({ evaluation_id: '2', user_id: 'u' })),
    },
    { place: 2, row: 5, line: 5, kind: 'callable', subject: '5', unclear: true },
  ]);
  expect(rows[0]).not.toHaveProperty('unclear');
  expect(retry).toMatchObject({
    overtakenCount: 0,
    unclear: [2],
    codes: new Map([['UNAVAILABLE', 2]]),
    head: {
      derived: { as: 'retry', of: record.id },
      renumbered: true,
      counts: { rows: 2, callable: 2 },
      source: { name: record.manifest.name, sha256: record.manifest.sha256 },
      columns: [{ title: 'evaluation_id' }, { title: 'user_id' }, { title: 'note' }],
    },
  });
});

test('the new run knows which rows may have been called', async () => {
  const { store, record } = await endedRun(evaluations(2), { others: { 1: failed, 2: unclear } });
  const retry = await endedRetry(store, record, { others: { 1: null, 2: null }, state: 'interrupted' });
  expect(retry).toMatchObject({ retryOf: record.id, plan: { rows: 2, callable: 2 } });
  await withJournalReader(store, retry, (journal) => {
    expect([1, 2].map((place) => journal.history(place)?.unclear)).toEqual([undefined, true]);
  });
});

test.each<[string, RetryChoice, readonly number[]]>([
  ['all', {}, [1, 2, 3]],
  ['with a code', { codes: ['NOT_FOUND'] }, [2]],
  ['that may have been processed', { unclear: true }, [3]],
  ['with a code that may have been processed', { codes: ['NOT_FOUND'], unclear: true }, []],
])('rows %s are chosen, and all codes counted', async (_which, choice, numbers) => {
  const others = { 1: failed, 2: notFound, 3: unclear };
  const { store, record } = await endedRun(evaluations(4), { others });
  const { retry, rows } = await retryOf(store, record, [], choice);
  expect(rows.map(({ row }) => row)).toEqual(numbers);
  expect(Object.fromEntries(retry.codes)).toEqual({ UNAVAILABLE: 2, NOT_FOUND: 1 });
});

test('a retry of a retry has the rows that still fail, with their first numbers', async () => {
  const { store, record } = await endedRun(evaluations(3), { others: { 1: failed, 3: failed } });
  const second = await endedRetry(store, record, { others: { 2: notFound } });
  const both = await retryOf(store, record, [second]);
  expect(both.rows).toMatchObject([{ row: 3, subject: '3', cells: ['3', 'u', 'n3'] }]);
  expect(both.retry.codes).toEqual(new Map([['NOT_FOUND', 1]]));
  expect((await retryOf(store, second)).rows).toMatchObject([{ row: 3, line: 3 }]);
  expect(await hasRowsToRetry(store, record, [second])).toBe(true);
  const third = await endedRetry(store, second, {});
  expect(await hasRowsToRetry(store, record, [second, third])).toBe(false);
  expect(await hasRowsToRetry(store, record, [])).toBe(true);
});

test('a row is not called after a later row of its subject has succeeded', async () => {
  const { store, record } = await endedRun(
    [evaluation(1, 'a'), evaluation(2, 'a'), evaluation(1, 'b'), evaluation(2, 'b')],
    { others: { 1: failed, 2: failed, 4: failed } },
  );
  const { retry, rows } = await retryOf(store, record);
  expect(rows.map(({ row }) => row)).toEqual([2, 4]);
  expect(retry).toMatchObject({ overtakenCount: 1, codes: new Map([['UNAVAILABLE', 2]]) });
  expect(retry.scan).toMatchObject({ callable: 2, conflicts: 1, changedSubjects: 1 });
});

test.each([
  ['cancelled', [2]],
  ['interrupted', []],
  ['halted', []],
] as const)('of a run that is %s, these uncalled rows are retried: %j', async (state, numbers) => {
  const { store, record } = await endedRun(evaluations(2), { state, others: { 2: null } });
  const { rows } = await retryOf(store, record);
  expect(rows.map(({ row }) => row)).toEqual(numbers);
  expect(await hasRowsToRetry(store, record, [])).toBe(numbers.length > 0);
});

test.each<{
  readonly now: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly retried: object;
}>([
  {
    now: 'is as it was',
    fields: { title: 'Old', description: 'd' },
    retried: { kind: 'callable', values: { title: 'New', description: 'd' }, old: { title: 'Old' } },
  },
  {
    now: 'has another value in another field, which stays',
    fields: { title: 'Old', description: 'Theirs' },
    retried: { kind: 'callable', values: { title: 'New', description: 'Theirs' }, old: { title: 'Old' } },
  },
  {
    now: 'has another value in the same field, which is not overwritten',
    fields: { title: 'Theirs', description: 'd' },
    retried: {
      kind: 'invalid',
      problems: [
        {
          problem: expect.stringMatching(/^the entry is different: title is "Theirs" now; /),
        },
      ],
    },
  },
  {
    now: 'is as the row wants it',
    fields: { title: 'New', description: 'd' },
    retried: { kind: 'left out', because: { why: 'as wanted' } },
  },
])('a compared row is compared again, with what it changes: its entry $now', async ({ fields, retried }) => {
  const listing = (entry: Readonly<Record<string, string>>) =>
    listsOf([[updateSoundboard, { 1: { fields: entry } }]]);
  const { store, record } = await endedRun([{ soundboard_id: 1, title: 'New', description: 'd' }], {
    lists: await listing({ title: 'Old', description: 'd' }),
    others: { 1: { outcome: 'failed', code: 'CHANGED_SINCE' } },
  });
  const { rows } = await retryOf(store, record, [], {}, await listing(fields));
  expect(rows).toMatchObject([retried]);
});
