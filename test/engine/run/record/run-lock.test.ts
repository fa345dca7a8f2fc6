import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { lockPath } from '../../../../src/base/disk/lock.ts';
import { noOutcomes } from '../../../../src/domain/terms.ts';
import { factsOfEntry, factsOfRecord } from '../../../../src/engine/run/facts/make-facts.ts';
import { lockRun } from '../../../../src/engine/run/record/open-run.ts';
import { enterState, type RunRecord } from '../../../../src/engine/run/record/record.ts';
import { isInUse } from '../../../../src/engine/run/record/run-lock.ts';
import { openRunStore } from '../../../../src/engine/run/record/store.ts';
import { ago, runEntry } from '../../../helpers/cluster-entries.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

const noSummary = { done: 0, outcomes: noOutcomes(), activeMs: 0 };

/** A run that this process has taken to its end just now, unless the changes say otherwise. */
async function endedRun(changes: Partial<RunRecord> = {}) {
  const stateDir = await temporaryFolder();
  const store = openRunStore(stateDir, operations);
  const record = enterState(enterState(plannedRecord, 'running'), 'completed');
  await mkdir(store.folder(record.id), { recursive: true });
  const lockDatastore = () =>
    lockPath({ path: join(stateDir, 'queue'), purpose: 'test', taken: (who) => new Error(who) });
  return { store, record: { ...record, ...changes }, lockDatastore };
}

describe('a run that has ended is in use', () => {
  test('while its lock is held, whatever its datastore is', async () => {
    const { store, record } = await endedRun({ queue: 'redis://10.0.0.7:6379/0', submitted: true });
    const { ended } = await factsOfRecord(store, record, undefined, noSummary);
    expect(ended).toBe(true);
    const lock = await lockRun(store.folder(record.id), record.id, 'coordinate');
    expect(await factsOfRecord(store, record, undefined, noSummary)).toMatchObject({
      state: 'completed',
      ended: false,
    });
    await lock.release();
    expect(await isInUse(store, record)).toBe(false);
  });

  const endsNow = (): RunRecord['states'] => [
    { state: 'completed', at: new Date(Date.now() + 1).toISOString() },
  ];

  test('while its process holds the embedded datastore since before the end', async () => {
    const { store, record, lockDatastore } = await endedRun();
    expect(await isInUse(store, record)).toBe(false);
    const lock = await lockDatastore();
    expect(await isInUse(store, { ...record, states: endsNow() })).toBe(true);
    await lock.release();
    expect(await isInUse(store, { ...record, states: endsNow() })).toBe(false);
  });

  test.each<[string, Partial<RunRecord>]>([
    ['for a run that began after the end', { states: [{ state: 'completed', at: ago(60_000) }] }],
    ['by another process', { process: { pid: 1, host: 'here', started: '1' } }],
    ['by a daemon, for other runs', { submitted: true }],
    ['for a run that is not on the embedded datastore', { queue: 'redis://10.0.0.7:6379/0' }],
  ])('not while the datastore is held %s', async (_title, changes) => {
    const { store, record, lockDatastore } = await endedRun();
    const lock = await lockDatastore();
    onTestFinished(() => lock.release());
    expect(await isInUse(store, { ...record, states: endsNow(), ...changes })).toBe(false);
  });
});

test('a run of another machine has ended when its coordinator has left it, or has not been seen for a while', () => {
  const isEnded = (changes: Parameters<typeof runEntry>[0]) =>
    factsOfEntry(runEntry({ state: 'completed', ...changes }), undefined).ended;
  expect(isEnded({})).toBe(false);
  expect(isEnded({ left: true })).toBe(true);
  expect(isEnded({ seenAt: ago(60_000) })).toBe(true);
  expect(isEnded({ state: 'submitted', left: true })).toBe(false);
});
