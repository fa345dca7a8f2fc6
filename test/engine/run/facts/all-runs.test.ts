import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { allRuns } from '../../../../src/engine/run/facts/all-runs.ts';
import type { ClusterSnapshot } from '../../../../src/engine/run/facts/live-run.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { enterState } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { ago, api, runEntry, workerEntry } from '../../../helpers/cluster-entries.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { finished } from '../../journal/arbitraries.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

const nobody: ClusterSnapshot = { entries: [], apis: new Map() };
const all = () => true;

/** A run of three rows in progress. */
async function goingRun() {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'rows.csv'), 'evaluation_id,user_id\n1,u\n2,u\n3,u\n');
  const store = openRunStore(join(folder, '.cqbatch'), operations);
  const { record, journal } = await createRun(store, {
    rows: manifestAt(join(folder, 'rows.csv')),
    options: leastOptions,
  });
  const going = enterState(record, 'running');
  await store.save(going);
  return {
    store,
    record: going,
    succeed: (row: number) => journal.append([finished(row)]),
    journal,
  };
}

test('what delays a run is told as long as its process is in progress', async () => {
  const { store, record, journal } = await goingRun();
  const runs = allRuns(store, vi.fn());
  const wait = async () => (await runs.read(nobody, all))[0]?.wait;
  const waiting = 'Redis has no memory left';
  await store.save({ ...record, waiting });
  expect(await wait()).toEqual({ of: 'datastore', text: waiting });
  await store.save({ ...record, waiting, process: { pid: 2 ** 22 + 1, host: hostname(), started: '1' } });
  expect(await wait()).toBeUndefined();
  await store.save(enterState({ ...record, waiting }, 'running'));
  expect(await wait()).toBeUndefined();
  const seen = { entries: [runEntry({ id: 'far', waiting })], apis: new Map() };
  expect((await runs.read(seen, all)).find(({ id }) => id === 'far')?.wait).toMatchObject({ text: waiting });
  await journal.close();
  await runs.close();
});

test('a removed journal is reported, and tried again', async () => {
  const { store, record, journal } = await goingRun();
  const onUnreadable = vi.fn();
  const runs = allRuns(store, onUnreadable);
  const path = join(store.folder(record.id), 'journal.jsonl');
  await journal.close();
  await writeFile(path, '');
  expect(await runs.read(nobody, all)).toEqual([]);
  expect(onUnreadable).toHaveBeenCalledWith(
    expect.objectContaining({ message: expect.stringContaining(path) }),
  );
});

test('runs of other machines come after those of the state folder, with the workers that call their API', async () => {
  const { store, record, journal } = await goingRun();
  await journal.close();
  const seen: ClusterSnapshot = {
    entries: [
      runEntry({ id: 'there', rowsPerSecond: 5 }),
      runEntry({ id: 'lost', seenAt: ago(60_000) }),
      runEntry({ id: record.id, baseUrl: leastOptions.baseUrl, rowsPerSecond: 7 }),
    ],
    apis: new Map([[api, { workers: [workerEntry()], pace: undefined }]]),
  };
  const runs = allRuns(store, vi.fn());
  expect(await runs.read(seen, all)).toMatchObject([
    { id: record.id, throughput: { rowsPerSecond: 7 }, workers: [] },
    { id: 'there', throughput: { rowsPerSecond: 5 }, workers: [{ host: 'here' }] },
    { id: 'lost', state: 'interrupted', ended: true },
  ]);
  const going = await runs.read(seen, (_, state) => state === 'running');
  expect(going.map(({ id }) => id)).toEqual([record.id, 'there']);
  await runs.close();
});
