import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { operations } from '../../../../jobs/index.ts';
import { isAbandoned } from '../../../../src/base/disk/owned-folder.ts';
import { thisProcess } from '../../../../src/base/disk/process.ts';
import { actualState, enterState, type RunRecord } from '../../../../src/engine/run/record/record.ts';
import { openRunStore, type RunStore } from '../../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { plannedRecord } from '../planned-record.ts';

vi.mock('../../../../src/base/disk/owned-folder.ts', { spy: true });

let store: RunStore;

beforeEach(async () => {
  store = openRunStore(await temporaryFolder(), operations);
});

function recordOf(id: string): RunRecord {
  return { ...plannedRecord, id, states: [] };
}

describe('the run store', () => {
  test('returns saved runs, the oldest first', async () => {
    const first = await store.create();
    const second = await store.create();
    const [older, newer] = [first.id, second.id].toSorted() as [string, string];
    await store.save(recordOf(older));
    await store.save(recordOf(newer));
    expect(await store.load(older)).toEqual(recordOf(older));
    expect((await store.list()).map(({ id }) => id)).toEqual([older, newer]);
    expect(await store.list(undefined, new Set([older]))).toEqual([recordOf(newer)]);
  });

  test('leaves out a folder without a record', async () => {
    await store.create();
    expect(await store.list()).toEqual([]);
    await expect(store.find('2')).rejects.toMatchObject({ kind: 'usage', code: 'RUN_UNKNOWN' });
  });

  test('removes leftovers of a plan whose process has died, so that its id is free, and nothing else', async () => {
    const [left, going, run] = [await store.create('nightly'), await store.create(), await store.create()];
    const dead = JSON.stringify({ ...thisProcess(), pid: 2 ** 22 + 1 });
    await writeFile(join(left.folder, 'owner.json'), dead);
    await writeFile(join(left.folder, 'manifest.arriving'), 'evaluation_id');
    await store.save(recordOf(run.id));
    expect(await readdir(run.folder)).toEqual(['run.json']);
    await writeFile(join(run.folder, 'owner.json'), dead);
    expect((await store.create('nightly')).id).toBe('nightly');
    expect(await readdir(left.folder)).toEqual(['owner.json']);
    expect(JSON.parse(await readFile(join(left.folder, 'owner.json'), 'utf8'))).toEqual(thisProcess());
    await expect(store.create(going.id)).rejects.toMatchObject({ code: 'RUN_EXISTS' });
    await expect(store.create(run.id)).rejects.toMatchObject({ code: 'RUN_EXISTS' });
  });

  test('leaves a run alone whose plan is saved while it is looked at', async () => {
    const { id, folder } = await store.create();
    vi.mocked(isAbandoned).mockImplementationOnce(async () => {
      // Its process saves the run and ends, after its name was read in the folder.
      await store.save(recordOf(id));
      return true;
    });
    await store.create();
    expect(await readdir(folder)).toEqual(['run.json']);
  });

  test('leaves a run alone whose record is damaged, creates others beside it, and says so where its id is wanted', async () => {
    const { folder } = await store.create('nightly');
    await writeFile(join(folder, 'run.json'), '{');
    await writeFile(join(folder, 'owner.json'), JSON.stringify({ ...thisProcess(), pid: 2 ** 22 + 1 }));
    await store.create('weekly');
    expect((await readdir(folder)).toSorted()).toEqual(['owner.json', 'run.json']);
    await expect(store.create('nightly')).rejects.toMatchObject({
      kind: 'fatal',
      code: 'RUN_UNREADABLE',
    });
  });

  describe('a run whose process has another host name is', () => {
    const elsewhere = { pid: process.pid, host: 'elsewhere', started: '1' };
    const longAgo = new Date(Date.now() - 61_000);

    async function runOf(state: 'running' | 'paused', touched: { record?: Date; lock?: Date }) {
      const { id, folder } = await store.create();
      const record = { ...enterState(recordOf(id), state), process: elsewhere };
      await store.save(record);
      await utimes(join(folder, 'run.json'), touched.record ?? longAgo, touched.record ?? longAgo);
      return { id, folder, record };
    }
    async function lockedBy(path: string, holder: object, touched: Date): Promise<void> {
      await mkdir(`${path}.lock`);
      await utimes(`${path}.lock`, touched, touched);
      await writeFile(
        `${path}.holder.json`,
        JSON.stringify({ ...holder, purpose: 'run', since: longAgo.toISOString() }),
      );
    }

    test.each(['running', 'paused'] as const)(
      'interrupted after a minute, though it was %s',
      async (state) => {
        const { id, record } = await runOf(state, {});
        const { process: _, ...forgotten } = record;
        expect(await store.load(id)).toEqual(forgotten);
        expect(actualState(await store.find(id))).toBe('interrupted');
        expect((await store.list()).map(actualState)).toEqual(['interrupted']);
      },
    );

    test('in progress for a minute after its record was saved', async () => {
      const { id } = await runOf('running', { record: new Date() });
      expect(actualState(await store.load(id))).toBe('running');
    });

    test('in progress while a living process touches its lock, and no longer', async () => {
      const { id, folder } = await runOf('paused', {});
      await lockedBy(join(folder, 'run'), elsewhere, new Date());
      expect(actualState(await store.load(id))).toBe('paused');
      await utimes(join(folder, 'run.lock'), longAgo, longAgo);
      expect(actualState(await store.load(id))).toBe('interrupted');
    });

    test('in progress while its process holds the embedded datastore, and not while another one does', async () => {
      const { id } = await runOf('paused', {});
      const queue = join(store.stateDir, 'queue');
      await lockedBy(queue, elsewhere, new Date());
      expect(actualState(await store.load(id))).toBe('paused');
      await writeFile(
        `${queue}.holder.json`,
        JSON.stringify({ ...thisProcess(), purpose: 'run', since: longAgo.toISOString() }),
      );
      expect(actualState(await store.load(id))).toBe('interrupted');
    });
  });

  test('names a run that does not exist, and never leaves its folder', async () => {
    await expect(store.load('../../etc')).rejects.toThrow('There is no run ../../etc');
  });

  test('finds a run by a unique part of its id, and refuses an ambiguous part', async () => {
    for (const id of ['nightly', 'nightly-2', 'weekly']) {
      await store.create(id);
      await store.save(recordOf(id));
    }
    await store.create('weekly-being-planned');
    const found = await Promise.all(['nightly', '-2', 'week'].map((name) => store.find(name)));
    expect(found.map(({ id }) => id)).toEqual(['nightly', 'nightly-2', 'weekly']);
    await expect(store.find('night')).rejects.toMatchObject({
      kind: 'usage',
      code: 'RUN_AMBIGUOUS',
      message: expect.stringContaining('(nightly-2, nightly)'),
    });
    for (const name of ['', 'monthly', '../nightly'])
      await expect(store.find(name)).rejects.toMatchObject({ kind: 'usage', code: 'RUN_UNKNOWN' });
  });

  test.each([
    ['damaged', '{"version":2}', 'RUN_UNREADABLE'],
    ['of another version', '{"version":1}', 'FILE_VERSION'],
  ])('says which record is %s', async (_what, text, code) => {
    const { id, folder } = await store.create();
    await writeFile(join(folder, 'run.json'), text);
    await expect(store.load(id)).rejects.toMatchObject({
      kind: 'fatal',
      code,
      message: expect.stringContaining(join(folder, 'run.json')),
    });
  });
});
