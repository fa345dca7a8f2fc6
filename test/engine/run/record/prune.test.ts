import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import {
  type KeepRules,
  prunableRuns,
  removeRuns,
  runsWithAwaitedManifests,
} from '../../../../src/engine/run/record/prune.ts';
import { type RunRecord, type RunState, runStates } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

const now = Date.parse('2026-06-01T00:00:00Z');

/** A run that reached this state this many days ago. */
function ended(id: string, daysAgo: number, more: Partial<RunRecord> = {}): RunRecord {
  const at = new Date(now - daysAgo * 24 * 3_600_000).toISOString();
  const state: RunState = more.state ?? 'completed';
  return { ...plannedRecord, id, ...more, state, states: [...plannedRecord.states, { state, at }] };
}

const ids = (runs: readonly RunRecord[]) => runs.map(({ id }) => id);

describe('the runs to be removed', () => {
  const runs = [ended('a', 100), ended('b', 80), ended('c', 60), ended('d', 1)];

  test.each<[string, KeepRules, string[]]>([
    ['none without a limit', {}, []],
    ['all but the newest', { last: 1 }, ['a', 'b', 'c']],
    ['those that ended earlier', { days: 70 }, ['a', 'b']],
    ['those that neither limit keeps', { last: 3, days: 90 }, ['a']],
    ['none of the given ones', { last: 1, ids: new Set(['b']) }, ['a', 'c']],
  ])('are %s', (_title, rules, expected) => {
    expect(ids(prunableRuns(runs, rules, now))).toEqual(expected);
  });

  test('have no open rows', () => {
    const pruned = (state: RunState) => prunableRuns([ended('a', 1_000, { state })], { days: 1 }, now);
    expect(runStates.filter((state) => pruned(state).length === 1)).toEqual(['completed', 'cancelled']);
  });

  test('never leave a kept run without the run that it was made from', () => {
    const run = fc.record({
      daysAgo: fc.nat(200),
      from: fc.option(fc.nat(20)),
      state: fc.constantFrom<RunState>('completed', 'cancelled', 'halted'),
      isUndo: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(run, { maxLength: 20 }), fc.nat(20), fc.nat(200), (given, last, days) => {
        const all = given.map(({ daysAgo, from, state, isUndo }, index) =>
          ended(`r${index}`, daysAgo, {
            state,
            ...(from !== null && from < index && { [isUndo ? 'undoOf' : 'retryOf']: `r${from}` }),
          }),
        );
        const removed = new Set(ids(prunableRuns(all, { last, days }, now)));
        for (const { id, retryOf, undoOf } of all) {
          const from = retryOf ?? undoOf;
          if (from !== undefined) expect(removed.has(id)).toBe(removed.has(from));
        }
        for (const { id } of all.slice(all.length - Math.min(last, all.length)))
          expect(removed.has(id)).toBe(false);
      }),
    );
  });
});

test('runs are removed whole, including the rest of a killed removal', async () => {
  const store = openRunStore(await temporaryFolder(), operations);
  const runsDir = join(store.stateDir, 'runs');
  for (const id of ['a', 'b']) {
    await mkdir(store.folder(id), { recursive: true });
    await writeFile(join(store.folder(id), 'report.csv'), '12345');
    await store.save({ ...plannedRecord, id });
  }
  await mkdir(join(runsDir, 'c.removed'));
  expect(ids(await store.list())).toEqual(['a', 'b']);
  const freed = await removeRuns(store, [{ ...plannedRecord, id: 'a' }]);
  expect(freed).toBeGreaterThan(100);
  expect(await readdir(runsDir)).toEqual(['b']);
  expect(ids(await store.list())).toEqual(['b']);
});

test('a run is kept until its manifest is moved to its last folder, even while the inbox is not mounted', async () => {
  const inbox = await temporaryFolder();
  const keepUntil = join(inbox, 'ended', 'a.json');
  const runs = [
    { ...plannedRecord, keepUntil },
    { ...plannedRecord, id: 'other' },
  ];
  const awaited = new Set([plannedRecord.id]);
  expect(await runsWithAwaitedManifests(runs)).toEqual(awaited);
  await mkdir(join(inbox, 'ended'));
  expect(await runsWithAwaitedManifests(runs)).toEqual(awaited);
  await writeFile(keepUntil, '');
  expect(await runsWithAwaitedManifests(runs)).toEqual(new Set());
  await rename(join(inbox, 'ended'), join(inbox, 'unmounted'));
  expect(await runsWithAwaitedManifests(runs)).toEqual(awaited);
});
