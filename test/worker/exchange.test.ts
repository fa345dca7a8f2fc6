import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RatePolicy } from '../../src/queue/rate-policy.ts';
import {
  goneAfterMs,
  type PaceEntry,
  type Registry,
  type RunEntry,
  type TrafficReport,
  type WorkerEntry,
} from '../../src/queue/registry.ts';
import { type Decision, type Exchange, ownExchange, sharedExchange } from '../../src/worker/exchange.ts';
import { ago, runEntry as anyRun, workerEntry as anyWorker, api } from '../helpers/registry-entries.ts';

const beatMs = 100;
const auto: RatePolicy = { text: 'auto', auto: true };
const fixed: RatePolicy = { text: '50/s', auto: false, perSecond: 50 };

function report(changes: Partial<TrafficReport> = {}): TrafficReport {
  return { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [], ...changes };
}

const decision: Decision = {
  rate: 40,
  concurrency: 20,
  active: 3,
  restMs: 0,
  phase: 'holding',
  reason: 'just under the limit',
  accepted: 10,
  rejected: 1,
};

/** Another worker than the one that a test opens, which has been there for longer. */
function workerEntry(changes: Partial<WorkerEntry> = {}): WorkerEntry {
  return anyWorker({ id: 'other', host: 'elsewhere', traffic: report(), startedAt: ago(60_000), ...changes });
}

function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  return anyRun({ rate: auto, ...changes });
}

function paceEntry(changes: Partial<PaceEntry> = {}): PaceEntry {
  return { ...decision, baseUrl: api, worker: 'other', runs: [], workers: 2, seenAt: ago(0), ...changes };
}

/** A registry in memory, which workers can open exchanges on. */
function begin() {
  const workers = new Map<string, WorkerEntry>();
  const runs = new Map<string, RunEntry>();
  const paces = new Map<string, PaceEntry>();
  let runReads = 0;
  const registry: Partial<Registry> = {
    putWorker: async (entry) => void workers.set(entry.id, entry),
    removeWorker: async (id) => void workers.delete(id),
    workers: async () => [...workers.values()],
    async runs() {
      runReads += 1;
      return [...runs.values()];
    },
    putPace: async (entry) => void paces.set(entry.baseUrl, entry),
    pace: async (baseUrl) => paces.get(baseUrl),
  };
  const opened: Exchange[] = [];
  return {
    workers,
    paces,
    /** How often the runs were read. */
    runReads: () => runReads,
    put: (...entries: readonly WorkerEntry[]) => {
      for (const entry of entries) workers.set(entry.id, entry);
    },
    putRun: (...entries: readonly RunEntry[]) => {
      for (const entry of entries) runs.set(entry.id, entry);
    },
    open(baseUrl = api): Exchange {
      // No two of them in the same millisecond: which one leads would be chance.
      vi.advanceTimersByTime(1);
      const exchange = sharedExchange({
        registry: registry as Registry,
        version: '1.2.3',
        baseUrl,
        facts: () => ({ active: 3, finished: 7, concurrency: 5 }),
      });
      opened.push(exchange);
      return exchange;
    },
    /** All workers exchange, for so long. */
    async pass(milliseconds: number): Promise<void> {
      for (let passed = 0; passed < milliseconds; passed += beatMs) {
        vi.advanceTimersByTime(beatMs);
        for (const exchange of opened) await exchange.swap(report());
      }
    },
    /** Of a worker that died. */
    forget: (exchange: Exchange) => void opened.splice(opened.indexOf(exchange), 1),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a worker whose datastore is its own', () => {
  test.each<[string, RatePolicy | undefined, object]>([
    ['auto', auto, { auto: true }],
    ['a fixed rate', fixed, { auto: false, perSecond: 50 }],
    ['no limit', undefined, { auto: false }],
  ])('leads, and knows its policy: %s', async (_title, policy, common) => {
    const exchange = ownExchange(policy);
    const own = report({ accepted: 5 });
    const { reports, ...known } = await exchange.swap(own);
    expect([...reports.values()]).toEqual([own]);
    expect(known).toEqual({ leads: true, place: 0, policy: common });
    await exchange.publish(decision);
    await exchange.close();
  });
});

describe('a worker', () => {
  test('shows itself with what it has met with', async () => {
    const { open, workers } = begin();
    await open().swap(report({ accepted: 5 }));
    expect([...workers.values()]).toEqual([
      {
        id: expect.any(String),
        host: expect.any(String),
        pid: process.pid,
        version: '1.2.3',
        baseUrl: api,
        active: 3,
        finished: 7,
        concurrency: 5,
        traffic: report({ accepted: 5 }),
        startedAt: expect.any(String),
        seenAt: ago(0),
      },
    ]);
  });

  test('hears what all others of its API have met with', async () => {
    const { open, put } = begin();
    put(
      workerEntry({ id: 'other', traffic: report({ accepted: 7 }) }),
      workerEntry({ id: 'other API', baseUrl: `${api}/v2` }),
      workerEntry({ id: 'gone', seenAt: ago(goneAfterMs) }),
    );
    const { traffic: _, ...ungoverned } = workerEntry({ id: 'of an earlier version' });
    put(ungoverned);
    const { reports } = await open().swap(report({ accepted: 5 }));
    expect([...reports.values()].map(({ accepted }) => accepted).sort()).toEqual([5, 7]);
    expect(reports.get('other')).toEqual(report({ accepted: 7 }));
  });
});

describe('the worker that leads', () => {
  test('is the only one there is', async () => {
    expect(await begin().open().swap(report())).toMatchObject({ leads: true, place: 0 });
  });

  test('is the one that has been there for longest; each other one knows its place', async () => {
    const { open } = begin();
    const exchanges = [open(), open(), open()];
    for (const exchange of exchanges) await exchange.swap(report());
    const seen = [];
    for (const exchange of exchanges) seen.push(await exchange.swap(report()));
    expect(seen.map(({ leads, place }) => [leads, place])).toEqual([
      [true, 0],
      [false, 1],
      [false, 2],
    ]);
  });

  test.each([
    ['of another API', { baseUrl: `${api}/v2` }],
    ['that has not been heard of for long', { seenAt: ago(goneAfterMs) }],
  ])('is none %s', async (_title, changes) => {
    const { open, put } = begin();
    put(workerEntry(changes));
    expect((await open().swap(report())).leads).toBe(true);
  });

  test('is none of an earlier version, that tells nothing of its calls', async () => {
    const { open, put } = begin();
    const { traffic: _, ...ungoverned } = workerEntry();
    put(ungoverned);
    expect((await open().swap(report())).leads).toBe(true);
  });

  test('is one of them, when two began in the same moment', async () => {
    const { open, put } = begin();
    const exchange = open();
    const startedAt = ago(0);
    await exchange.swap(report());
    put(workerEntry({ id: '0', startedAt }));
    expect((await exchange.swap(report())).leads).toBe(false);
    put(workerEntry({ id: '~', startedAt }), workerEntry({ id: '0', startedAt: ago(-1) }));
    expect((await exchange.swap(report())).leads).toBe(true);
  });

  test('is succeeded once its entry has not changed for two seconds', async () => {
    const { open, pass, forget } = begin();
    const first = open();
    const second = open();
    await pass(1_000);
    forget(first);
    await pass(1_750);
    expect((await second.swap(report())).leads).toBe(false);
    await pass(500);
    expect((await second.swap(report())).leads).toBe(true);
  });

  test('is the same again when it comes back', async () => {
    const { open, pass, forget } = begin();
    const first = open();
    const second = open();
    await pass(1_000);
    forget(first);
    await pass(3_000);
    await first.swap(report());
    expect((await second.swap(report())).leads).toBe(false);
  });

  test.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])('is heard of though its clock is %s', async (_title, skewMs) => {
    const { open, put } = begin();
    const exchange = open();
    const leader = workerEntry({ startedAt: '2000-01-01T00:00:00.000Z' });
    const seen: boolean[] = [];
    for (let beat = 0; beat < 20; beat += 1) {
      put({ ...leader, seenAt: ago(-skewMs) });
      seen.push((await exchange.swap(report())).leads);
      vi.advanceTimersByTime(250);
    }
    // At first a clock that is far behind is taken for a worker that is gone.
    expect(seen.slice(1)).toEqual(Array(19).fill(false));
    await exchange.swap(report());
    vi.advanceTimersByTime(2_000);
    expect((await exchange.swap(report())).leads).toBe(true);
  });
});

describe('the policy', () => {
  test('is unknown without a run', async () => {
    const { open, putRun } = begin();
    putRun(runEntry({ baseUrl: `${api}/v2` }), runEntry({ id: 'ended', state: 'completed' }));
    expect((await open().swap(report())).policy).toBeUndefined();
  });

  test.each<[string, RunEntry[], object]>([
    ['of one run', [runEntry()], { auto: true }],
    ['of a paused one', [runEntry({ state: 'paused', rate: fixed })], { auto: false, perSecond: 50 }],
    ['of several', [runEntry(), runEntry({ id: 'other', rate: fixed })], { auto: true, perSecond: 50 }],
    [
      'of those that are there',
      [runEntry(), runEntry({ id: 'gone', rate: fixed, seenAt: ago(goneAfterMs) })],
      { auto: true },
    ],
  ])('is that %s', async (_title, entries, policy) => {
    const { open, putRun } = begin();
    putRun(...entries);
    expect((await open().swap(report())).policy).toEqual(policy);
  });

  test('is that of a run that began since, no later than 250 ms after the runs were read', async () => {
    const { open, putRun } = begin();
    const exchange = open();
    await exchange.swap(report());
    putRun(runEntry());
    vi.advanceTimersByTime(249);
    expect((await exchange.swap(report())).policy).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect((await exchange.swap(report())).policy).toEqual({ auto: true });
  });

  test('stays known between two times that the runs are read, which is not with each exchange', async () => {
    const { open, putRun, runReads } = begin();
    putRun(runEntry());
    const exchange = open();
    for (let beat = 0; beat < 30; beat += 1) {
      expect((await exchange.swap(report())).policy).toEqual({ auto: true });
      vi.advanceTimersByTime(beatMs);
    }
    expect(runReads()).toBe(10);
  });

  test('is that of the runs that are left, soon after one has ended', async () => {
    const { open, putRun } = begin();
    putRun(runEntry(), runEntry({ id: 'other', rate: fixed }));
    const exchange = open();
    await exchange.swap(report());
    putRun(runEntry({ id: 'other', rate: fixed, state: 'completed' }));
    vi.advanceTimersByTime(250);
    expect((await exchange.swap(report())).policy).toEqual({ auto: true });
  });

  test('of a run without a limit is none', async () => {
    const { open, putRun } = begin();
    const { rate: _, ...unlimited } = runEntry();
    putRun(unlimited);
    expect((await open().swap(report())).policy).toEqual({ auto: false });
  });

  test.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])('counts a run whose clock is %s, as long as it is heard of', async (_title, skewMs) => {
    const { open, putRun } = begin();
    const exchange = open();
    for (let beat = 0; beat < 2; beat += 1) {
      putRun(runEntry({ seenAt: ago(-skewMs) }));
      await exchange.swap(report());
      vi.advanceTimersByTime(1_000);
    }
    expect((await exchange.swap(report())).policy).toEqual({ auto: true });
    vi.advanceTimersByTime(goneAfterMs);
    expect((await exchange.swap(report())).policy).toBeUndefined();
  });
});

describe('what the worker that leads has decided', () => {
  /** Two workers, the first of which leads, and a run. */
  async function two() {
    const begun = begin();
    begun.putRun(runEntry());
    const [leader, follower] = [begun.open(), begun.open()];
    for (const exchange of [leader, follower, leader]) await exchange.swap(report());
    return { ...begun, leader, follower };
  }

  test('reaches the others, with the runs that it has heard of and the workers there are', async () => {
    const { leader, follower } = await two();
    await leader.publish(decision);
    const { pace } = await follower.swap(report());
    expect(pace).toMatchObject({ ...decision, baseUrl: api, runs: ['run'], workers: 2, seenAt: ago(0) });
    expect((await leader.swap(report())).pace).toBeUndefined();
  });

  test('is unknown before it has decided', async () => {
    const { follower } = await two();
    expect((await follower.swap(report())).pace).toBeUndefined();
  });

  test('is not what one that is gone had decided', async () => {
    const { follower, paces } = await two();
    paces.set(api, paceEntry({ worker: 'gone', restMs: 3_600_000 }));
    expect((await follower.swap(report())).pace).toBeUndefined();
  });

  test('is marked as over when it goes', async () => {
    const { leader, paces, workers } = await two();
    await leader.publish(decision);
    await leader.close();
    expect(paces.get(api)).toMatchObject({ ...decision, seenAt: '1970-01-01T00:00:00.000Z' });
    expect(workers.size).toBe(1);
  });

  test('is not marked by one that has been succeeded, or never led', async () => {
    const { leader, follower, paces } = await two();
    await leader.publish(decision);
    const own = paceEntry({ worker: 'successor' });
    paces.set(api, own);
    await leader.close();
    await follower.close();
    expect(paces.get(api)).toEqual(own);
  });
});
