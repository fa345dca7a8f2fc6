import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import { createRun } from '../../../../src/engine/run/plan/create-run.ts';
import { lockRun } from '../../../../src/engine/run/record/open-run.ts';
import { enterState, type RunRecord } from '../../../../src/engine/run/record/record.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { controlsInFolder } from '../../../../src/engine/run/work/control.ts';
import { resubmitRun } from '../../../../src/engine/run/work/resubmit.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { leastOptions, manifestAt } from '../planned-record.ts';

const ann = { by: { user: 'ann', host: 'desk' }, reason: 'mended' };
const wanted = { budget: undefined, attribution: ann };

/** A run that has stopped. */
async function stoppedRun(change: (planned: RunRecord) => RunRecord) {
  const store = openRunStore(await temporaryFolder(), operations);
  const source = join(store.stateDir, 'rows.csv');
  await writeFile(source, 'evaluation_id,user_id\n1,u\n2,u\n');
  const { record, journal } = await createRun(store, { rows: manifestAt(source), options: leastOptions });
  await journal.close();
  const stopped = change(record);
  await store.save(stopped);
  return { store, stopped };
}

const halted = (planned: RunRecord) =>
  enterState(planned, 'halted', { because: 'guard', reason: 'failures' });

test('a stopped run is submitted with the changes of its user, and keeps the datastore that may have its rows', async () => {
  const queue = 'redis://queue.example';
  const { store, stopped } = await stoppedRun((planned) => ({
    ...halted(planned),
    queue,
    budget: { maxRows: 9 },
  }));
  const options = { ...stopped.options, maxFailures: 7 };
  const budget = { maxRows: 1 };
  const { result } = await resubmitRun(store, stopped, { ...wanted, changes: { options }, budget });
  expect(result).toBe('submitted');
  const record = await store.load(stopped.id);
  expect(record).toMatchObject({ state: 'submitted', submitted: true, options, budget, queue });
  expect(record.states.at(-1)).toMatchObject({ state: 'submitted', ...ann });
  await store.save(halted(record));
  await resubmitRun(store, await store.load(stopped.id), wanted);
  expect((await store.load(stopped.id)).budget).toBeUndefined();
});

test('a run whose process died is recorded as interrupted, which ends its active time', async () => {
  const { store, stopped } = await stoppedRun((planned) => ({
    ...enterState(planned, 'running'),
    process: { ...thisProcess(), pid: 2 ** 22 + 1 },
  }));
  await resubmitRun(store, stopped, wanted);
  expect((await store.load(stopped.id)).states).toMatchObject([
    { state: 'planned' },
    { state: 'running' },
    { state: 'interrupted', reason: 'its process died' },
    { state: 'submitted' },
  ]);
});

test('commands from before no longer count', async () => {
  const { store, stopped } = await stoppedRun(halted);
  const controls = controlsInFolder(store.folder(stopped.id));
  await controls.writeControl({ kind: 'command', command: 'pause' });
  await resubmitRun(store, stopped, wanted);
  expect(await controls.readControls()).toEqual([]);
});

test('a run that another process works on is left as it is', async () => {
  const { store, stopped } = await stoppedRun(halted);
  const lock = await lockRun(store.folder(stopped.id), stopped.id, 'resume');
  const resubmission = await resubmitRun(store, stopped, wanted);
  expect(resubmission).toMatchObject({ result: 'in use', error: { code: 'RUN_LOCKED' } });
  expect(await store.load(stopped.id)).toMatchObject({ state: 'halted' });
  await lock.release();
  expect(await resubmitRun(store, stopped, wanted)).toMatchObject({ result: 'submitted' });
});

test('a run that has changed since its user saw it is left as it is', async () => {
  const { store, stopped } = await stoppedRun(halted);
  await store.save(enterState(stopped, 'cancelled'));
  const controls = join(store.folder(stopped.id), 'control.jsonl');
  await appendFile(controls, '{}\n');
  const resubmission = await resubmitRun(store, stopped, wanted);
  expect(resubmission).toMatchObject({ result: 'changed', record: { state: 'cancelled' } });
  expect(await store.load(stopped.id)).toMatchObject({ state: 'cancelled' });
});

test('a run whose record could not be written is left as it is, and can be handed over again', async () => {
  const { store, stopped } = await stoppedRun(halted);
  const full = { ...store, save: () => Promise.reject(new Error('the disk is full')) };
  await expect(resubmitRun(full, stopped, wanted)).rejects.toThrow('the disk is full');
  expect(await store.load(stopped.id)).toMatchObject({ state: 'halted' });
  expect(await resubmitRun(store, stopped, wanted)).toMatchObject({ result: 'submitted' });
});

test('of two who hand over a run at once, one does', async () => {
  const { store, stopped } = await stoppedRun(halted);
  const results = await Promise.all([
    resubmitRun(store, stopped, wanted),
    resubmitRun(store, stopped, wanted),
  ]);
  expect(results.filter(({ result }) => result === 'submitted')).toHaveLength(1);
  expect((await store.load(stopped.id)).states.filter(({ state }) => state === 'submitted')).toHaveLength(1);
});
