import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import type { JournalEntry } from '../../../../src/engine/journal/line.ts';
import { cancelSettledRun } from '../../../../src/engine/run/feed/reconcile.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { enterState, type RunState } from '../../../../src/engine/run/record/record.ts';
import { openRunStore, type RunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { finished } from '../../journal/arbitraries.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

const fed: JournalEntry = { type: 'fed', first: 1, last: 2, batch: 'b' };

/** A stopped run of two rows. */
async function stopped(store: RunStore, state: RunState, ...entries: readonly JournalEntry[]) {
  const source = join(store.stateDir, 'rows.csv');
  await writeFile(source, 'evaluation_id,user_id\n1,u\n2,u\n');
  const { record, journal } = await createRun(store, { rows: manifestAt(source), options: leastOptions });
  await journal.append(entries);
  await journal.close();
  const ended = enterState(record, state);
  await store.save(ended);
  return ended;
}

test('a halted run with no rows in a datastore can be cancelled without one', async () => {
  const store = openRunStore(await temporaryFolder(), operations);
  const halted = await stopped(store, 'halted', fed, finished(1), { type: 'settled' });
  expect(await cancelSettledRun(store, halted.id)).toMatchObject({ state: 'cancelled' });
  expect(await store.load(halted.id)).toMatchObject({ state: 'cancelled' });
});

test.each<[string, RunState, readonly JournalEntry[]]>([
  ['whose rows may be in a datastore', 'interrupted', [fed]],
  ['that waits for a daemon', 'submitted', []],
])('a run %s cannot', async (_title, state, entries) => {
  const store = openRunStore(await temporaryFolder(), operations);
  const { id } = await stopped(store, state, ...entries);
  expect(await cancelSettledRun(store, id)).toBeUndefined();
  expect(await store.load(id)).toMatchObject({ state });
});
