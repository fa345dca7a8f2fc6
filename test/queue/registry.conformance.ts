import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Datastore } from '../../src/datastore/datastore.ts';
import type { Registry, RunEntry, WorkerEntry } from '../../src/queue/registry.ts';
import { built } from '../helpers/built.ts';

const { openRegistry } = await built<typeof import('../../src/queue/registry.ts')>('queue/registry');

const now = new Date().toISOString();
const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1_000).toISOString();

let entries = 0;

function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  entries += 1;
  return {
    id: `run-${entries}`,
    key: `key-${entries}`,
    baseUrl: 'https://api.example.com',
    manifest: 'NUL \u0000, lone \ud800, 🎧.csv',
    state: 'running',
    rows: 10,
    counts: { succeeded: 1, failed: 2, invalid: 3, duplicate: 4, not_attempted: 0 },
    ratePerSecond: 1.5,
    coordinator: { host: 'here', pid: 1 },
    startedAt: now,
    seenAt: now,
    ...changes,
  };
}

function workerEntry(changes: Partial<WorkerEntry> = {}): WorkerEntry {
  entries += 1;
  return {
    id: `worker-${entries}`,
    host: 'here',
    pid: 1,
    version: '1.0.0',
    baseUrl: 'https://api.example.com',
    concurrency: 5,
    active: 3,
    finished: 2,
    startedAt: now,
    seenAt: now,
    ...changes,
  };
}

/** What every datastore must do alike for those who want to know who is there. */
export function describeRegistryOn(name: string, open: () => Promise<Datastore>): void {
  describe(`the registry on ${name}`, () => {
    let datastore: Datastore;
    let registry: Registry;

    beforeAll(async () => {
      datastore = await open();
      registry = openRegistry(datastore);
    });
    afterAll(async () => {
      await registry.close();
      await datastore.close();
    });

    const runOf = async (id: string) => (await registry.runs()).filter((run) => run.id === id);
    const workerOf = async (id: string) => (await registry.workers()).filter((worker) => worker.id === id);

    test('hands out an entry as it was written last', async () => {
      const first = runEntry();
      expect(await registry.putRun(first)).toBe(true);
      expect(await runOf(first.id)).toEqual([first]);
      const rate = { text: '600/m', calls: 10, perMs: 1_000 };
      const second = { ...first, state: 'paused', rate };
      expect(await registry.putRun(second)).toBe(true);
      expect(await runOf(first.id)).toEqual([second]);
    });

    test('keeps the entry of a run from another run of the same id', async () => {
      const first = runEntry();
      await registry.putRun(first);
      expect(await registry.putRun({ ...first, key: 'another', state: 'paused' })).toBe(false);
      expect(await runOf(first.id)).toEqual([first]);
    });

    test('gives an id to one of those who want it at the same moment', async () => {
      for (let round = 0; round < 10; round += 1) {
        const { id } = runEntry();
        const rivals = Array.from({ length: 5 }, (_, index) => runEntry({ id, key: `rival-${index}` }));
        const got: boolean[] = [];
        const pending: Promise<void>[] = [];
        for (const rival of rivals) {
          pending.push(registry.putRun(rival).then((owns) => void got.push(owns)));
          // One round trip behind each other, so that each meets another stage of the one before.
          await registry.wishOf(id);
        }
        await Promise.all(pending);
        expect(got.filter((owns) => owns)).toHaveLength(1);
        expect(await runOf(id)).toHaveLength(1);
      }
    });

    test('knows the workers until they sign off', async () => {
      const first = workerEntry();
      await registry.putWorker(first);
      const renewed = { ...first, active: 0, finished: 10 };
      await registry.putWorker(renewed);
      expect(await workerOf(first.id)).toEqual([renewed]);
      await registry.removeWorker(first.id);
      await registry.removeWorker(first.id);
      expect(await workerOf(first.id)).toEqual([]);
    });

    test('keeps the latest wish for a run, also for one that nobody has announced', async () => {
      expect(await registry.wishOf('unheard-of')).toBeUndefined();
      await registry.wish('unheard-of', 'pause');
      const first = await registry.wishOf('unheard-of');
      expect(first).toEqual({ wish: 'pause', at: expect.stringMatching(/^\d{4}-.*Z$/) });
      await registry.wish('unheard-of', 'cancel');
      const second = await registry.wishOf('unheard-of');
      expect(second?.wish).toBe('cancel');
      expect(Date.parse(second?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.at ?? ''));
    });

    test('forgets runs, their wishes and workers a day after their last sign', async () => {
      const old = runEntry({ seenAt: twoDaysAgo });
      const present = runEntry();
      const oldWorker = workerEntry({ seenAt: twoDaysAgo });
      const presentWorker = workerEntry();
      for (const run of [old, present]) {
        await registry.putRun(run);
        await registry.wish(run.id, 'pause');
      }
      for (const worker of [oldWorker, presentWorker]) await registry.putWorker(worker);

      await registry.sweep();
      expect([await runOf(old.id), await workerOf(oldWorker.id)]).toEqual([[], []]);
      expect(await registry.wishOf(old.id)).toBeUndefined();
      expect(await runOf(present.id)).toEqual([present]);
      expect(await workerOf(presentWorker.id)).toEqual([presentWorker]);
      expect((await registry.wishOf(present.id))?.wish).toBe('pause');
    });
  });
}
