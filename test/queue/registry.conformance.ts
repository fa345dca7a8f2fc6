import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Datastore } from '../../src/datastore/datastore.ts';
import type { PaceEntry, Registry, RunEntry, WorkerEntry } from '../../src/queue/registry.ts';
import { built } from '../helpers/built.ts';
import { runEntry as anyRun, workerEntry as anyWorker } from '../helpers/registry-entries.ts';

const { openRegistry } = await built<typeof import('../../src/queue/registry.ts')>('queue/registry');

const now = new Date().toISOString();
const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1_000).toISOString();

let entries = 0;

function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  entries += 1;
  return anyRun({
    id: `run-${entries}`,
    key: `key-${entries}`,
    manifest: 'NUL \u0000, lone \ud800, 🎧.csv',
    counts: { succeeded: 1, failed: 2, invalid: 3, duplicate: 4, not_attempted: 0 },
    ratePerSecond: 1.5,
    startedAt: now,
    seenAt: now,
    ...changes,
  });
}

function workerEntry(changes: Partial<WorkerEntry> = {}): WorkerEntry {
  entries += 1;
  return anyWorker({
    id: `worker-${entries}`,
    concurrency: 5,
    active: 3,
    finished: 2,
    startedAt: now,
    seenAt: now,
    ...changes,
  });
}

function paceEntry(changes: Partial<PaceEntry> = {}): PaceEntry {
  entries += 1;
  return {
    baseUrl: `https://api-${entries}.example.com`,
    worker: 'worker',
    runs: ['run-1', 'run-2'],
    workers: 3,
    rate: 49.5,
    concurrency: 20,
    active: 7,
    restMs: 0,
    learned: 50,
    phase: 'holding',
    reason: 'just under the limit',
    accepted: 1_000,
    rejected: 2,
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
      const rate = { text: 'auto..600/m', auto: true, perSecond: 10 };
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

    test('keeps what a worker has met with', async () => {
      const stated = [
        {
          name: 'burst;pk=:\u0000\ud800:',
          quota: 10,
          windowMs: 1_000,
          remaining: 0,
          unit: 'requests' as const,
        },
        { name: 'at once', quota: 4, unit: 'concurrent-requests' as const },
      ];
      const counts = { accepted: 10, rejected: 2, durationMs: 123.4, active: 3 };
      const moments = { refusedAgoMs: 0, waitMs: 1_500, acceptedAmong: 4, rejectedAmong: 5 };
      const busy = workerEntry({ traffic: { ...counts, ...moments, stated } });
      const idle = workerEntry({ traffic: { ...counts, stated: [] } });
      for (const worker of [busy, idle]) await registry.putWorker(worker);
      expect([await workerOf(busy.id), await workerOf(idle.id)]).toEqual([[busy], [idle]]);
    });

    test.each([
      ['as it is', 'just under the limit'],
      ['with quotes', '"\\\'`'],
      ['with line breaks', 'one\r\ntwo\u2028three'],
      ['with what PostgreSQL refuses', 'NUL \u0000, lone \ud800 \udc00'],
      ['with what JavaScript might take for its own', '__proto__ {"v":2} %s $1'],
      ['in other scripts', '🎧 שלום ｆｕｌｌ'],
      ['of any length', 'x'.repeat(100_000)],
    ])('hands out the pace of an API, its reason %s', async (_title, reason) => {
      const pace = paceEntry({ reason });
      expect(await registry.pace(pace.baseUrl)).toBeUndefined();
      await registry.putPace(pace);
      expect(await registry.pace(pace.baseUrl)).toEqual(pace);
    });

    test('keeps the latest pace of each API apart', async () => {
      const { rate: _rate, learned: _learned, ...unlimited } = paceEntry();
      const other = paceEntry({ baseUrl: `${unlimited.baseUrl}/v2` });
      await registry.putPace(paceEntry({ baseUrl: unlimited.baseUrl }));
      await registry.putPace(other);
      await registry.putPace(unlimited);
      expect(await registry.pace(unlimited.baseUrl)).toEqual(unlimited);
      expect(await registry.pace(other.baseUrl)).toEqual(other);
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
