import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type CallRate, callRate } from '../../src/queue/call-rate.ts';
import type { PaceEntry, Registry, RunEntry, WorkerEntry } from '../../src/queue/registry.ts';
import { goneAfterMs } from '../../src/queue/registry.ts';
import type { RowQueue } from '../../src/queue/row-queue.ts';
import { type Surroundings, startPresence } from '../../src/run/presence.ts';
import { ago, runEntry as anyRun, api, workerEntry } from '../helpers/registry-entries.ts';

const secondMs = 1_000;

type Rate = Pick<RunEntry, 'rate'>;

function fixed(perSecond: number): Rate {
  return { rate: { text: `${perSecond}/s`, auto: false, perSecond } };
}

function auto(perSecond?: number): Rate {
  return { rate: { text: 'auto', auto: true, ...(perSecond !== undefined && { perSecond }) } };
}

function paceEntry(changes: Partial<PaceEntry> = {}): PaceEntry {
  return {
    baseUrl: api,
    worker: 'w',
    runs: ['own'],
    workers: 1,
    rate: 40,
    concurrency: 50,
    active: 0,
    restMs: 0,
    phase: 'holding',
    reason: 'just under the limit',
    accepted: 0,
    rejected: 0,
    seenAt: ago(0),
    ...changes,
  };
}

function runEntry(changes: Partial<RunEntry> = {}): RunEntry {
  return anyRun({ id: 'own', key: 'own', ...changes });
}

/** Without those that only say again what was said before. */
function changesOf(rates: readonly (CallRate | undefined)[]): readonly (CallRate | undefined)[] {
  return rates.filter((rate, index) => index === 0 || !isDeepStrictEqual(rate, rates[index - 1]));
}

/** A presence among entries that a test can change, with all that it did. */
function begin(changes: Partial<RunEntry> = {}, failure?: Error) {
  const others = {
    runs: [] as RunEntry[],
    workers: [] as WorkerEntry[],
    pace: undefined as PaceEntry | undefined,
  };
  const own = { changes, failure, restingMs: 0 };
  const did = {
    put: [] as RunEntry[],
    rates: [] as (CallRate | undefined)[],
    seen: [] as Surroundings[],
    errors: [] as Error[],
    established: false,
  };
  const registry: Partial<Registry> = {
    async putRun(entry) {
      if (own.failure !== undefined) throw own.failure;
      did.put.push(entry);
      return true;
    },
    runs: async () => [...did.put.slice(-1), ...others.runs],
    workers: async () => others.workers,
    pace: async () => others.pace,
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
  void presence.established.then(() => {
    did.established = true;
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

  test.each([-3_600_000, 3_600_000])(
    'counts who is there by what is renewed when the clock is set by %d ms',
    async (byMs) => {
      const { others, did, beat } = begin();
      const alive = (): void => {
        others.workers = [
          workerEntry({ seenAt: ago(0) }),
          workerEntry({ id: 'dies', seenAt: others.workers[1]?.seenAt ?? ago(0) }),
        ];
      };
      alive();
      await beat();
      vi.setSystemTime(Date.now() + byMs);
      await beat();
      expect(did.seen.at(-1)?.workers).toBe(2);
      for (let passed = 0; passed <= goneAfterMs; passed += secondMs) {
        alive();
        await beat();
      }
      expect(did.seen.at(-1)?.workers).toBe(1);
    },
  );

  test('lifts at first a rate that an earlier run has left there', async () => {
    const { did, beat } = begin();
    await beat();
    expect(changesOf(did.rates)).toEqual([undefined]);
  });

  test('keeps the API to the strictest rate of all runs that are there', async () => {
    const { others, own, did, beat } = begin(fixed(50));
    await beat();
    const stricter = runEntry({ id: 'stricter', ...fixed(10) });
    others.runs = [stricter, runEntry({ id: 'other API', baseUrl: 'x', ...fixed(1) })];
    await beat();
    others.runs = [{ ...stricter, state: 'paused' }];
    await beat();
    others.runs = [{ ...stricter, state: 'completed' }];
    await beat();
    others.runs = [stricter];
    for (let passed = 0; passed <= goneAfterMs; passed += secondMs) await beat();
    own.changes = {};
    await beat();
    const rates = [50, 10, 50, 10, 50].map(callRate);
    expect(changesOf(did.rates)).toEqual([...rates, undefined]);
  });

  test.each([
    ['the limit of the API', auto(), 20],
    ['the limit of the API up to a high bound', auto(50), 20],
    ['the limit of the API up to a low bound', auto(5), 5],
  ])('goes slowly without a governor when it wants %s', async (_title, rate, expected) => {
    const { did, beat } = begin(rate);
    await beat();
    expect(changesOf(did.rates)).toEqual([callRate(expected)]);
  });

  test('goes slowly without a governor when another run wants the limit of the API', async () => {
    const { others, did, beat } = begin(fixed(50));
    others.runs = [runEntry({ id: 'other', ...auto() })];
    await beat();
    expect(changesOf(did.rates)).toEqual([callRate(20)]);
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

  test('does nothing more once it has stopped, though no rate was ever in force', async () => {
    const { own, did, presence, beat } = begin({}, new Error('away'));
    await beat();
    own.failure = undefined;
    await presence.stop();
    const put = did.put.length;
    for (let second = 0; second < 5; second += 1) await beat();
    expect(did.put).toHaveLength(put);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a run among workers that are governed', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A run and a governor that renews its pace every 250 ms; every `look` is a beat of the run. */
  function governed(changes: Partial<PaceEntry> = {}, skewMs = 0) {
    const begun = begin(auto());
    const governor = { pace: paceEntry(changes), alive: true };
    const renew = () => {
      if (governor.alive) governor.pace = { ...governor.pace, seenAt: ago(-skewMs) };
      begun.others.pace = governor.pace;
    };
    renew();
    setInterval(renew, 250);
    return { ...begun, governor };
  }

  test('leaves the rate to the governor while it renews its pace', async () => {
    const { did, beat } = governed();
    for (let second = 0; second < 5; second += 1) await beat();
    expect(did.rates).toEqual([]);
    expect(did.seen.at(-1)?.pace).toMatchObject({ rate: 40, reason: 'just under the limit' });
  });

  test('keeps the rate itself once the governor is silent, and leaves it to the next one', async () => {
    const { did, governor, beat } = governed();
    await beat();
    governor.alive = false;
    for (let second = 0; second < 3; second += 1) await beat();
    expect(changesOf(did.rates)).toEqual([callRate(20)]);
    expect(did.seen.at(-1)?.pace).toBeUndefined();
    governor.alive = true;
    await beat();
    const set = did.rates.length;
    await beat();
    expect(did.rates).toHaveLength(set);
  });

  test.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000],
  ])('leaves the rate to a governor whose clock is %s', async (_title, skewMs) => {
    const { did, beat } = governed({}, skewMs);
    await beat();
    const set = did.rates.length;
    for (let second = 0; second < 5; second += 1) await beat();
    expect(did.rates).toHaveLength(set);
    expect(did.seen.at(-1)?.pace).toBeDefined();
  });

  test('keeps the rate itself as soon as the governor has closed its pace', async () => {
    const { others, did, governor, beat } = governed();
    await beat();
    governor.alive = false;
    governor.pace = { ...governor.pace, seenAt: new Date(0).toISOString() };
    others.pace = governor.pace;
    await beat();
    expect(changesOf(did.rates)).toEqual([callRate(20)]);
  });

  describe('has its rate established', () => {
    test('once it has set one itself, where no governor is', async () => {
      const begun = begin(fixed(50));
      await begun.presence.established;
      expect(begun.did.rates).toEqual([callRate(50)]);
    });

    test('at once, where the governor has heard of it', async () => {
      const begun = governed({ runs: ['other', 'own'] });
      await begun.presence.established;
      expect(begun.did.rates).toEqual([]);
    });

    test('only when the governor has heard of it', async () => {
      const begun = governed({ runs: ['other'] });
      await begun.beat();
      await begun.beat();
      expect(begun.did.established).toBe(false);
      begun.governor.pace = { ...begun.governor.pace, runs: ['other', 'own'] };
      await begun.beat();
      expect(begun.did.established).toBe(true);
      expect(begun.did.rates).toEqual([]);
    });

    test('soon, where the governor is gone and has left its pace', async () => {
      const begun = governed({ runs: ['other'] });
      begun.governor.alive = false;
      await vi.advanceTimersByTimeAsync(0);
      expect(begun.did.established).toBe(false);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(begun.did.established).toBe(true);
      expect(changesOf(begun.did.rates)).toEqual([callRate(20)]);
    });

    test('not before the datastore has taken it', async () => {
      const begun = begin(auto(), new Error('away'));
      await begun.beat();
      expect(begun.did.established).toBe(false);
      begun.own.failure = undefined;
      await begun.beat();
      expect(begun.did.established).toBe(true);
    });
  });
});
