import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow, timeOfDay } from '../../src/clock.ts';
import { callRate } from '../../src/queue/call-rate.ts';
import type { CommonPolicy } from '../../src/queue/rate-policy.ts';
import type { PaceEntry, TrafficReport } from '../../src/queue/registry.ts';
import { CallGate } from '../../src/worker/call-gate.ts';
import type { Decision, Exchange, Exchanged } from '../../src/worker/exchange.ts';
import { type PaceReport, type PacerOptions, startPacer } from '../../src/worker/pacer.ts';
import { TrafficMeter } from '../../src/worker/traffic-meter.ts';
import { answered, tooMany, unavailable } from './answers.ts';
import { fakeQueue } from './fake-queue.ts';

/** Fake timers do not reach node:timers/promises. */
vi.mock('../../src/waiting.ts', () => ({
  after: (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds)),
}));

const beatMs = 250;
const auto: CommonPolicy = { auto: true };
const leading = { leads: true, place: 0 };
const following = { leads: false, place: 1 };

const pace: PaceEntry = {
  baseUrl: 'https://api.example.com',
  worker: 'leader',
  runs: ['run'],
  workers: 3,
  rate: 100,
  concurrency: 20,
  active: 12,
  restMs: 0,
  learned: 101,
  phase: 'holding',
  reason: 'just under the limit',
  accepted: 500,
  rejected: 5,
  seenAt: '2026-01-01T00:00:00.000Z',
};

/** A pacer whose surroundings a test can change, with all that it did. */
function begin(known: Omit<Exchanged, 'reports'>, options: Partial<PacerOptions> = {}) {
  const around = {
    known,
    others: new Map<string, TrafficReport>(),
    failure: undefined as Error | undefined,
    /** What every swap waits for. */
    answer: Promise.resolve(),
  };
  const did = {
    swapped: [] as TrafficReport[],
    published: [] as Decision[],
    paces: [] as PaceReport[],
    errors: [] as Error[],
    closed: 0,
    established: false,
    /** What had happened, in order. */
    order: [] as string[],
  };
  const exchange: Exchange = {
    everyMs: beatMs,
    async swap(report) {
      did.swapped.push(report);
      await around.answer;
      if (around.failure !== undefined) throw around.failure;
      return { ...around.known, reports: new Map([['own', report], ...around.others]) };
    },
    async publish(decision) {
      did.order.push('published');
      did.published.push(decision);
    },
    async close() {
      did.closed += 1;
      if (around.failure !== undefined) throw around.failure;
    },
  };
  const { queue, rates, pauses } = fakeQueue();
  const { setRate } = queue;
  queue.setRate = (rate) => {
    did.order.push('rate set');
    return setRate(rate);
  };
  const gate = new CallGate({ concurrency: 1_000, spacingMs: 0 });
  const meter = new TrafficMeter();
  const pacer = startPacer({
    queue,
    exchange,
    meter,
    gate,
    onPace: (now) => did.paces.push(now),
    onError: (error) => did.errors.push(error),
    ...options,
  });
  void pacer.established.then(() => {
    did.established = true;
    did.order.push('established');
  });
  return {
    around,
    did,
    rates,
    pauses,
    gate,
    meter,
    pacer,
    beat: () => vi.advanceTimersByTimeAsync(beatMs),
    /** So many may be in flight. */
    async room(): Promise<number> {
      const before = gate.active;
      for (let count = 0; count < 1_000; count += 1) void gate.enter();
      await vi.advanceTimersByTimeAsync(30_000);
      return gate.active - before;
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a worker that leads', () => {
  test('has a rate set before it may call, and tells the others', async () => {
    const { did, rates, beat } = begin({ ...leading, policy: auto });
    await beat();
    expect(did.order.slice(0, 3).sort()).toEqual(['established', 'published', 'rate set']);
    expect(did.order[0]).toBe('rate set');
    expect(rates).not.toEqual([]);
    expect(did.published[0]).toEqual({
      rate: did.paces[0]?.rate,
      concurrency: did.paces[0]?.concurrency,
      gatesKeep: true,
      tolerates503: false,
      phase: 'starting',
      reason: expect.any(String),
      restMs: 0,
      active: 0,
      accepted: 0,
      rejected: 0,
    });
  });

  test('may not call as long as no rate could be set', async () => {
    const { around, did, beat } = begin({ ...leading, policy: auto });
    around.failure = new Error('away');
    await beat();
    await beat();
    expect([did.established, did.published]).toEqual([false, []]);
    around.failure = undefined;
    await beat();
    expect(did.established).toBe(true);
  });

  test('goes by what all workers have met with', async () => {
    const { around, did, meter, beat } = begin({ ...leading, policy: { auto: false, perSecond: 50 } });
    const report = { accepted: 0, rejected: 0, durationMs: 0, active: 4, stated: [] };
    around.others.set('other', report);
    await beat();
    around.others.set('other', { ...report, accepted: 30, rejected: 3, active: 6 });
    meter.ended(meter.sent(), answered());
    meter.sent();
    await beat();
    expect(did.paces.at(-1)).toMatchObject({ accepted: 31, rejected: 3, rate: 50 });
    expect(did.published.at(-1)).toMatchObject({ accepted: 31, rejected: 3, active: 7 });
    expect(meter.elsewhere).toBe(6);
  });

  test('looks for the limit with care without a run: rows may have been left behind', async () => {
    const { did, rates, beat } = begin(leading);
    await beat();
    expect(did.paces.at(0)?.rate).toBe(20);
    expect(rates.map(({ rate }) => rate)).toEqual([callRate(21)]);
    expect(did.established).toBe(true);
  });

  test('goes on as the last run wanted, for the rows that it may have left behind', async () => {
    const { around, did, rates, meter, beat } = begin({ ...leading, policy: { auto: true, perSecond: 15 } });
    await beat();
    around.known = leading;
    const set = rates.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(rates.length).toBeGreaterThanOrEqual(set + 59);
    for (const { rate } of did.paces) expect(rate).toBeLessThanOrEqual(15);
    meter.ended(meter.sent(), tooMany(60_000));
    await vi.advanceTimersByTimeAsync(0);
    expect(did.published.at(-1)).toMatchObject({ restMs: 60_000 });
  });

  test('does as the next run wants', async () => {
    const { around, did, beat } = begin({ ...leading, policy: { auto: false, perSecond: 50 } });
    await beat();
    around.known = leading;
    await beat();
    expect(did.paces.at(-1)?.rate).toBe(50);
    around.known = { ...leading, policy: { auto: false, perSecond: 5 } };
    await beat();
    await beat();
    expect(did.paces.at(-1)?.rate).toBe(5);
  });

  test('looks at once when a call is refused', async () => {
    const { did, meter, beat } = begin({ ...leading, policy: auto });
    await beat();
    const swapped = did.swapped.length;
    meter.ended(meter.sent(), tooMany(60_000));
    await vi.advanceTimersByTimeAsync(0);
    expect(did.swapped).toHaveLength(swapped + 1);
    expect(did.swapped.at(-1)).toMatchObject({ rejected: 1, waitMs: 60_000 });
    expect(did.published.at(-1)).toMatchObject({ restMs: 60_000 });
  });

  test('looks once more when calls are refused while it looks', async () => {
    const { around, did, meter, beat } = begin({ ...leading, policy: auto });
    await beat();
    const swapped = did.swapped.length;
    let go = (): void => {};
    around.answer = new Promise((resolve) => {
      go = resolve;
    });
    for (let count = 0; count < 5; count += 1) meter.ended(meter.sent(), tooMany());
    await vi.advanceTimersByTimeAsync(0);
    expect(did.swapped.slice(swapped).map(({ rejected }) => rejected)).toEqual([1]);
    go();
    await vi.advanceTimersByTimeAsync(0);
    expect(did.swapped.slice(swapped).map(({ rejected }) => rejected)).toEqual([1, 5]);
  });

  test('lets no call out while the API asks to wait', async () => {
    const { gate, meter, beat } = begin({ ...leading, policy: auto });
    await beat();
    meter.ended(meter.sent(), tooMany(60_000));
    await vi.advanceTimersByTimeAsync(0);
    expect(await gate.enter()).toBe(false);
  });
});

test('a worker that leads compares the rates before it lowers one for 503s, and does not rest for them', async () => {
  const { did, meter, gate, beat } = begin({ ...leading, policy: auto });
  await beat();
  const rate = did.paces.at(-1)?.rate;
  for (const answer of [answered(), unavailable, unavailable, answered(), unavailable])
    meter.ended(meter.sent(), answer);
  await beat();
  expect(did.published.at(-1)).toMatchObject({ rate, tolerates503: true });
  const rest = vi.spyOn(gate, 'rest');
  meter.ended(meter.sent(), unavailable);
  expect(rest).not.toHaveBeenCalled();
});

describe('a worker without a run', () => {
  test('looks twice a second only, and as often as ever as soon as there is one', async () => {
    const { around, did, beat } = begin(leading);
    for (let beats = 0; beats < 12; beats += 1) await beat();
    expect(did.swapped.length).toBeLessThanOrEqual(7);
    around.known = { ...leading, policy: auto };
    await beat();
    await beat();
    const before = did.swapped.length;
    for (let beats = 0; beats < 12; beats += 1) await beat();
    expect(did.swapped.length).toBe(before + 12);
  });

  test('looks as often as ever while rows that were left behind are called', async () => {
    const { did, meter, beat } = begin(leading);
    await beat();
    meter.sent();
    const before = did.swapped.length;
    for (let beats = 0; beats < 12; beats += 1) await beat();
    expect(did.swapped.length).toBe(before + 12);
  });
});

describe('a worker that follows', () => {
  test('obeys the pace of the one that leads, and sets nothing itself', async () => {
    const { did, rates, pauses, beat } = begin({ ...following, policy: auto, pace });
    await beat();
    expect([rates, pauses, did.published, did.established]).toEqual([[], [], [], true]);
    expect(did.paces.at(-1)).toMatchObject({
      rate: 100,
      learned: 101,
      concurrency: 20,
      phase: 'holding',
      reason: 'just under the limit',
      accepted: 500,
      rejected: 5,
    });
  });

  test('may not call before the one that leads has decided', async () => {
    const { around, did, beat } = begin({ ...following, policy: auto });
    await beat();
    expect([did.established, did.paces]).toEqual([false, []]);
    around.known = { ...following, policy: auto, pace };
    await beat();
    expect(did.established).toBe(true);
  });

  test('rests as long as it is told, by its own clock', async () => {
    const { around, did, gate, beat } = begin({
      ...following,
      policy: auto,
      pace: { ...pace, restMs: 60_000 },
    });
    await beat();
    expect(did.paces.at(-1)?.restUntil).toBe(steadyNow() + 60_000);
    expect(await gate.enter()).toBe(false);
    around.known = { ...following, policy: auto, pace };
    await beat();
    expect(await gate.enter()).toBe(true);
  });

  test('knows the calls of the others', async () => {
    const { meter, beat } = begin({ ...following, pace });
    meter.sent();
    meter.sent();
    await beat();
    expect(meter.elsewhere).toBe(10);
  });

  test('does not look before its time because a call is refused', async () => {
    const { did, meter, beat } = begin({ ...following, pace });
    await beat();
    const swapped = did.swapped.length;
    meter.ended(meter.sent(), tooMany());
    await vi.advanceTimersByTimeAsync(0);
    expect(did.swapped).toHaveLength(swapped);
  });

  test('rests for no 503 while the pace says that they come at any rate', async () => {
    const { around, meter, gate, beat } = begin({ ...following, pace: { ...pace, tolerates503: true } });
    const rest = vi.spyOn(gate, 'rest');
    await beat();
    for (let count = 0; count < 10; count += 1) meter.ended(meter.sent(), unavailable);
    expect(rest).not.toHaveBeenCalled();
    around.known = { ...following, pace };
    await beat();
    meter.ended(meter.sent(), unavailable);
    expect(rest).toHaveBeenCalledOnce();
  });

  test('goes on as the run wanted when that is gone along with the one that led', async () => {
    const { around, did, beat } = begin({ ...following, policy: { auto: true, perSecond: 15 }, pace });
    await beat();
    around.known = leading;
    await beat();
    expect(did.paces.at(-1)?.rate).toBeLessThanOrEqual(15);
    expect(did.published).toHaveLength(1);
  });

  test('goes on from the same rate when it has to lead', async () => {
    const { around, did, beat } = begin({ ...following, policy: auto, pace });
    await beat();
    around.known = { ...leading, policy: auto };
    await beat();
    expect(did.paces.at(-1)).toMatchObject({ learned: 101, concurrency: 20, accepted: 0 });
    expect(did.paces.at(-1)?.rate).toBeLessThanOrEqual(101);
    expect(did.published).toHaveLength(1);
  });
});

describe('the calls in flight', () => {
  test.each([
    [20, 1],
    [20, 3],
    [5, 3],
    [3, 3],
    [200, 7],
  ])(
    'of %d are shared by %d workers so that it is all of them, and no more',
    async (concurrency, workers) => {
      let together = 0;
      for (let place = 0; place < workers; place += 1) {
        const { did, beat } = begin({ leads: false, place, pace: { ...pace, concurrency, workers } });
        await beat();
        together += did.paces.at(-1)?.ownConcurrency ?? 0;
      }
      expect(together).toBe(concurrency);
    },
  );

  test('are one at least for each worker', async () => {
    const { did, beat } = begin({ leads: false, place: 2, pace: { ...pace, concurrency: 2, workers: 3 } });
    await beat();
    expect(did.paces.at(-1)?.ownConcurrency).toBe(1);
  });

  test('are as many as the user wants', async () => {
    const { did, room, beat } = begin({ ...following, pace }, { concurrency: 11 });
    await beat();
    expect(did.paces.at(-1)?.ownConcurrency).toBe(11);
    expect(await room()).toBe(11);
  });

  test('are no more than the share', async () => {
    const { room, beat } = begin({ ...following, pace });
    await beat();
    expect(await room()).toBe(7);
  });
});

describe('calls', () => {
  test.each([
    ['of three workers are spread by a slow rate', 10, 105],
    ['are spread by no more than a rate of one a second does', 1 / 300, 1_050],
    ['go at once at a rate that timers are too coarse for', 501, 0],
    ['go at once without a limit', undefined, 0],
  ])('%s', async (_title, rate, spacingMs) => {
    const { rate: _, ...unlimited } = pace;
    const known = rate === undefined ? unlimited : { ...pace, rate };
    const { gate, beat } = begin({ ...following, pace: known }, { concurrency: 100 });
    await beat();
    const start = steadyNow();
    const at: number[] = [];
    for (let count = 0; count < 4; count += 1) void gate.enter().then(() => at.push(steadyNow() - start));
    await vi.advanceTimersByTimeAsync(10_000);
    // Of a timer that may have been late, 10 ms are made up for.
    const first = Math.max(0, spacingMs - 10);
    expect(at).toEqual([0, first, first + spacingMs, first + 2 * spacingMs]);
  });
});

test('a worker calls when it is its turn among those that keep the rate together', async () => {
  const { gate, beat } = begin({
    ...following,
    place: 2,
    pace: { ...pace, gatesKeep: true, turnAt: timeOfDay(steadyNow()).getTime() },
  });
  await beat();
  const start = steadyNow() - beatMs;
  const at: number[] = [];
  for (let count = 0; count < 20; count += 1) void gate.enter().then(() => at.push(steadyNow() - start));
  await vi.advanceTimersByTimeAsync(10_000);
  // Three of them make 100 calls a second: the third has its turn 20 ms after the first.
  expect(at.slice(10).map((ms) => ms % 30)).toEqual(at.slice(10).map(() => 20));
});

test.each([-3_600_000, -30_000, 3_600_000])('a clock that is set by %d ms changes no rest', async (jump) => {
  const { did, gate, meter, beat } = begin({ ...leading, policy: auto });
  await beat();
  meter.ended(meter.sent(), tooMany(2_000));
  await vi.advanceTimersByTimeAsync(0);
  const until = did.paces.at(-1)?.restUntil ?? 0;
  expect(until).toBeGreaterThan(steadyNow());
  vi.setSystemTime(Date.now() + jump);
  await beat();
  expect([did.paces.at(-1)?.restUntil, await gate.enter()]).toEqual([until, false]);
  await vi.advanceTimersByTimeAsync(until - steadyNow());
  expect(await gate.enter()).toBe(true);
});

test.each([-3_600_000, 3_600_000])(
  'others are told their turns by clocks that agree again (%d ms)',
  async (jump) => {
    const { did, beat } = begin({ ...following, pace: { ...pace, turnAt: Date.now() } });
    await beat();
    const turnAt = did.paces.at(-1)?.turnAt;
    vi.setSystemTime(Date.now() + jump);
    const { did: next, beat: beatNext } = begin({
      ...following,
      pace: { ...pace, turnAt: Date.now() - beatMs },
    });
    await beatNext();
    expect(next.paces.at(-1)?.turnAt).toBe(turnAt);
  },
);

describe('a datastore that is away', () => {
  test('is an error each time, and it goes on after it', async () => {
    const { around, did, beat } = begin({ ...leading, policy: auto });
    await beat();
    around.failure = new Error('away');
    await beat();
    await beat();
    expect(did.errors).toEqual([around.failure, around.failure]);
    around.failure = undefined;
    const published = did.published.length;
    await beat();
    expect(did.published).toHaveLength(published + 1);
  });

  test('is not asked again before it has answered', async () => {
    const { around, did, beat } = begin({ ...leading, policy: auto });
    await beat();
    let go = (): void => {};
    around.answer = new Promise((resolve) => {
      go = resolve;
    });
    const swapped = did.swapped.length;
    for (let count = 0; count < 10; count += 1) await beat();
    expect(did.swapped).toHaveLength(swapped + 1);
    go();
    await vi.advanceTimersByTimeAsync(0);
    expect(did.swapped).toHaveLength(swapped + 2);
  });
});

describe('a pacer that stops', () => {
  test('does nothing more, and closes the exchange', async () => {
    const { did, meter, pacer, beat } = begin({ ...leading, policy: auto });
    await beat();
    await pacer.stop();
    const swapped = did.swapped.length;
    meter.ended(meter.sent(), tooMany());
    await vi.advanceTimersByTimeAsync(10_000);
    expect([did.closed, did.swapped.length]).toEqual([1, swapped]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('waits for what is under way before it closes the exchange', async () => {
    const { around, did, pacer, beat } = begin({ ...leading, policy: auto });
    await beat();
    let go = (): void => {};
    around.answer = new Promise((resolve) => {
      go = resolve;
    });
    await beat();
    let stopped = false;
    const stopping = pacer.stop().then(() => {
      stopped = true;
    });
    await beat();
    expect([did.closed, stopped]).toEqual([0, false]);
    const done = [did.published.length, did.paces.length];
    go();
    await stopping;
    expect([did.closed, did.published.length, did.paces.length]).toEqual([1, ...done]);
  });

  test('waits no longer than two seconds for a datastore that is away', async () => {
    const { around, did, pacer, beat } = begin({ ...leading, policy: auto });
    await beat();
    around.answer = new Promise(() => {});
    await beat();
    const stopping = pacer.stop();
    await vi.advanceTimersByTimeAsync(2_000);
    await stopping;
    expect([did.closed, did.errors]).toEqual([0, []]);
  });

  test('fails no run because it could not say farewell', async () => {
    const { around, did, pacer, beat } = begin({ ...leading, policy: auto });
    await beat();
    around.failure = new Error('away');
    await pacer.stop();
    expect(did.errors).toEqual([around.failure]);
  });
});
