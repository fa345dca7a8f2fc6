import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Registry, RunEntry, WorkerEntry } from '../../src/queue/registry.ts';
import { goneAfterMs } from '../../src/queue/registry.ts';
import type { CallRate, RowQueue } from '../../src/queue/row-queue.ts';
import { type Surroundings, slowestRate, startPresence } from '../../src/run/presence.ts';

const api = 'https://api.example.com';
const secondMs = 1_000;

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

function limit(calls: number, perMs = secondMs): { readonly rate: NonNullable<RunEntry['rate']> } {
  return { rate: { text: `${calls}`, calls, perMs } };
}

function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  return {
    id: 'own',
    key: 'own',
    baseUrl: api,
    manifest: 'rows.csv',
    state: 'running',
    rows: 10,
    counts: { succeeded: 0, failed: 0, invalid: 0, duplicate: 0, not_attempted: 0 },
    ratePerSecond: 0,
    coordinator: { host: 'here', pid: 1 },
    startedAt: ago(0),
    seenAt: ago(0),
    ...changes,
  };
}

function workerEntry(changes: Partial<WorkerEntry> = {}): WorkerEntry {
  return {
    id: 'w',
    host: 'here',
    pid: 2,
    version: '1',
    baseUrl: api,
    concurrency: 1,
    active: 0,
    finished: 0,
    startedAt: ago(0),
    seenAt: ago(0),
    ...changes,
  };
}

/** Without those that only say again what was said before. */
function changesOf(rates: readonly (CallRate | undefined)[]): readonly (CallRate | undefined)[] {
  return rates.filter((rate, index) => index === 0 || !isDeepStrictEqual(rate, rates[index - 1]));
}

/** A presence among entries that a test can change, with all that it did. */
function begin(changes: Partial<RunEntry> = {}) {
  const others: { runs: RunEntry[]; workers: WorkerEntry[] } = { runs: [], workers: [] };
  const own = { changes, failure: undefined as Error | undefined, restingMs: 0 };
  const did = {
    put: [] as RunEntry[],
    rates: [] as (CallRate | undefined)[],
    seen: [] as Surroundings[],
    errors: [] as Error[],
  };
  const registry: Partial<Registry> = {
    async putRun(entry) {
      if (own.failure !== undefined) throw own.failure;
      did.put.push(entry);
      return true;
    },
    runs: async () => [...did.put.slice(-1), ...others.runs],
    workers: async () => others.workers,
  };
  const rows: Partial<RowQueue> = {
    async setRate(rate) {
      did.rates.push(rate);
    },
    restingFor: async () => own.restingMs,
  };
  const presence = startPresence({
    registry: registry as Registry,
    rows: rows as RowQueue,
    entry: () => runEntry(own.changes),
    onSurroundings: (surroundings) => did.seen.push(surroundings),
    onError: (error) => did.errors.push(error),
  });
  return { others, own, did, presence, beat: () => vi.advanceTimersByTimeAsync(secondMs) };
}

describe('a run that shows itself', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('renews its entry every second, and writes it a last time at its end', async () => {
    const { own, did, presence, beat } = begin();
    await beat();
    const put = did.put.length;
    await beat();
    expect(did.put).toHaveLength(put + 1);
    own.changes = { state: 'completed' };
    await presence.stop();
    expect(did.put.map(({ state }) => state)).toEqual([...Array(put + 1).fill('running'), 'completed']);
    await beat();
    expect(did.put).toHaveLength(put + 2);
  });

  test('learns of the workers of its API that are there, and of how long they rest', async () => {
    const { others, own, did, beat } = begin();
    others.workers = [
      workerEntry(),
      workerEntry({ id: 'other API', baseUrl: 'https://other.example.com' }),
      workerEntry({ id: 'gone', seenAt: ago(goneAfterMs) }),
      workerEntry({ id: 'late', seenAt: ago(goneAfterMs - 2 * secondMs) }),
    ];
    own.restingMs = 1_234;
    await beat();
    expect(did.seen.at(-1)).toEqual({ workers: 2, restingMs: 1_234 });
  });

  test('lifts at first a rate that an earlier run has left there', async () => {
    const { did, beat } = begin();
    await beat();
    expect(changesOf(did.rates)).toEqual([undefined]);
  });

  test('keeps the API to the strictest rate of all runs that are there', async () => {
    const { others, own, did, beat } = begin(limit(50));
    await beat();
    const stricter = runEntry({ id: 'stricter', ...limit(600, 60 * secondMs) });
    others.runs = [stricter, runEntry({ id: 'other API', baseUrl: 'x', ...limit(1) })];
    await beat();
    others.runs = [{ ...stricter, state: 'completed' }];
    await beat();
    others.runs = [{ ...stricter, seenAt: ago(goneAfterMs) }];
    await beat();
    own.changes = {};
    await beat();
    expect(changesOf(did.rates)).toEqual([
      { calls: 50, perMs: 1_000 },
      { calls: 600, perMs: 60_000 },
      { calls: 50, perMs: 1_000 },
      undefined,
    ]);
  });

  test('goes on after an error of the datastore', async () => {
    const { own, did, beat } = begin();
    await beat();
    const seen = did.seen.length;
    own.failure = new Error('away');
    await beat();
    expect(did.errors).toEqual([own.failure]);
    expect(did.seen).toHaveLength(seen);
    own.failure = undefined;
    await beat();
    expect(did.seen).toHaveLength(seen + 1);
  });
});

describe('the slowest rate', () => {
  test.each([
    ['of no run', [], undefined],
    ['of runs without one', [{ state: 'running' }], undefined],
    ['is compared by calls per time', [limit(10), limit(100, 60 * secondMs)], { calls: 100, perMs: 60_000 }],
    ['leaves out runs without one', [{}, limit(5)], { calls: 5, perMs: 1_000 }],
    [
      'leaves out runs that have ended',
      [{ state: 'completed', ...limit(1) }, { state: 'halted', ...limit(2) }, limit(5)],
      { calls: 5, perMs: 1_000 },
    ],
  ] as const)('%s', (_title, runs, expected) => {
    expect(slowestRate(runs.map((run) => ({ state: 'running', ...run })))).toEqual(expected);
  });
});
