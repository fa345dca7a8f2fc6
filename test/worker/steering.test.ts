import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../src/clock.ts';
import type { Traffic } from '../../src/governor/traffic.ts';
import { type CallRate, callRate } from '../../src/queue/call-rate.ts';
import type { CommonPolicy } from '../../src/queue/rate-policy.ts';
import {
  type AppliedPace,
  type StartingPoint,
  Steering,
  usualConcurrency,
} from '../../src/worker/steering.ts';
import { fakeQueue } from './fake-queue.ts';

const quiet: Traffic = { accepted: 0, rejected: 0, durationMs: 0, active: 0, stated: [] };
const auto: CommonPolicy = { auto: true };
const stepMs = 100;
/** What an API says of its limit. */
const stated = [{ name: 'one', unit: 'requests' as const, quota: 30, windowMs: 1_000 }];

/** @param workers so many leave it to the queue to keep a rate */
function begin(policy: CommonPolicy, learned: StartingPoint = {}, workers = 1_000) {
  const fake = fakeQueue();
  const start = steadyNow();
  const steering = new Steering(fake.queue, start, learned);
  const steer = (traffic: Partial<Traffic> = {}, wanted = policy): Promise<AppliedPace> =>
    steering.steer(steadyNow(), { ...quiet, ...traffic }, wanted, workers);
  return {
    ...fake,
    steer,
    /** Steers for so long, with as many calls as are allowed, all of them accepted. */
    async go(milliseconds: number): Promise<AppliedPace[]> {
      const paces: AppliedPace[] = [];
      for (let passed = 0; passed < milliseconds; passed += stepMs) {
        const accepted = Math.round(((paces.at(-1)?.rate ?? 0) * stepMs) / 1_000);
        paces.push(await steer({ accepted, durationMs: accepted * 20, active: 1 }));
        vi.advanceTimersByTime(stepMs);
      }
      return paces;
    },
    /**
     * Steers for so long, with all calls that the queue was asked for but for a share that gets lost.
     *
     * @param limit calls per second above which one of them is rejected each time
     */
    async lose(
      lost: number,
      milliseconds: number,
      { limit = Number.POSITIVE_INFINITY, ...heard }: Partial<Traffic> & { readonly limit?: number } = {},
    ): Promise<(AppliedPace & { readonly asked: CallRate })[]> {
      const paces: (AppliedPace & { readonly asked: CallRate })[] = [];
      for (let passed = 0; passed < milliseconds; passed += stepMs) {
        const asked = fake.rates.at(-1)?.rate;
        const called = asked === undefined ? 0 : perSecond(asked) * (1 - lost);
        const sent = (called * stepMs) / 1_000;
        const refusal = called > limit ? { rejected: 1, rejectedSentAt: steadyNow() - 20 } : { rejected: 0 };
        const accepted = sent - refusal.rejected;
        const pace = await steer({ accepted, ...refusal, durationMs: sent * 20, active: 1, ...heard });
        paces.push({ ...pace, asked: fake.rates.at(-1)?.rate ?? { calls: 0, perMs: 1 } });
        vi.advanceTimersByTime(stepMs);
      }
      return paces;
    },
    changes: () => fake.rates.map(({ rate, at }) => [rate, at - start]),
  };
}

function perSecond({ calls, perMs }: CallRate): number {
  return (calls * 1_000) / perMs;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a fixed rate', () => {
  test('is set as it was asked for, and once a second anew', async () => {
    const { go, changes } = begin({ auto: false, perSecond: 50 });
    const paces = await go(3_500);
    expect(changes()).toEqual([0, 1_000, 2_000, 3_000].map((at) => [callRate(50), at]));
    expect(paces.at(-1)).toEqual({
      rate: 50,
      concurrency: expect.any(Number),
      phase: 'fixed',
      reason: 'as it was asked for',
      gatesKeep: false,
      tolerates503: false,
    });
  });

  test('is not lowered when calls are rejected', async () => {
    const { steer, rates } = begin({ auto: false, perSecond: 50 });
    for (let beat = 0; beat < 20; beat += 1) {
      expect((await steer({ rejected: 5, rejectedSentAt: steadyNow() })).rate).toBe(50);
      vi.advanceTimersByTime(stepMs);
    }
    expect(new Set(rates.map(({ rate }) => rate && perSecond(rate)))).toEqual(new Set([50]));
  });

  test('pauses nothing by itself, but says for how long the API asks to wait', async () => {
    const { steer, pauses } = begin({ auto: false, perSecond: 50 });
    const waitUntil = steadyNow() + 60_000;
    expect((await steer({ rejected: 1, waitUntil })).restUntil).toBe(waitUntil);
    expect(pauses).toEqual([]);
  });
});

test('no limit lifts the one there is, once a second anew', async () => {
  const { go, changes } = begin({ auto: false });
  const paces = await go(1_500);
  expect(changes()).toEqual([
    [undefined, 0],
    [undefined, 1_000],
  ]);
  expect(paces.at(-1)).toEqual({
    concurrency: usualConcurrency,
    phase: 'fixed',
    reason: 'no limit is wanted',
    gatesKeep: false,
    tolerates503: false,
  });
});

describe('a rate that is looked for', () => {
  test('is the one of the governor', async () => {
    const { steer, rates } = begin(auto);
    const pace = await steer();
    expect(pace).toMatchObject({ phase: 'starting', rate: expect.any(Number) });
    expect(rates.map(({ rate }) => rate)).toEqual([callRate(pace.rate ?? 0)]);
  });

  test('begins with what was learned before', async () => {
    const learned = await begin(auto, { rate: 400, concurrency: 30 }).steer();
    const unlearned = await begin(auto).steer();
    expect(learned.rate).toBeGreaterThan(unlearned.rate ?? 0);
    expect(learned.rate).toBeLessThanOrEqual(400);
    expect(learned.concurrency).toBe(30);
  });

  test('follows the governor closely, and sends no command that would say the same again', async () => {
    const { go, changes } = begin(auto, { rate: 50 });
    const paces = await go(20_000);
    const sent = changes();
    const times = sent.map(([, at]) => at as number);
    expect(times[0]).toBe(0);
    for (const [index, at] of times.entries()) {
      const rate = sent[index]?.[0] as CallRate | undefined;
      const until = times[index + 1] ?? 20_000;
      for (let between = at; between < until; between += stepMs) {
        const wanted = paces[between / stepMs]?.rate ?? 0;
        if (rate === undefined) {
          expect(paces[between / stepMs]?.phase).toBe('starting');
          continue;
        }
        // Windows are of whole milliseconds, and what gets lost between them is made up for.
        expect(perSecond(rate)).toBeGreaterThan(wanted * 0.985);
        expect(perSecond(rate)).toBeLessThanOrEqual(wanted * 1.05 + 1e-9);
      }
      expect(until - at).toBeLessThanOrEqual(1_000);
    }
    expect(sent.length).toBeLessThan(paces.length);
  });

  test.each([
    ['lifted', auto, undefined],
    ['the bound', { auto: true, perSecond: 300 }, callRate(300)],
  ])('that the workers do not reach for two seconds is %s, until they do', async (_title, policy, lifted) => {
    const { steer, rates } = begin(policy);
    const pass = async (milliseconds: number, calls: number): Promise<AppliedPace | undefined> => {
      let pace: AppliedPace | undefined;
      for (let passed = 0; passed < milliseconds; passed += stepMs) {
        pace = await steer({ accepted: calls, durationMs: calls * 20, active: 1 });
        vi.advanceTimersByTime(stepMs);
      }
      return pace;
    };
    await pass(5_000, 2);
    expect(rates.at(-1)?.rate).toEqual(lifted);
    const { rate = 0 } = (await pass(1_000, 20)) ?? {};
    expect(rates.at(-1)?.rate).toEqual(callRate(rate));
    await pass(5_000, 10);
    expect(rates.at(-1)?.rate).toEqual(lifted);
    const refused = await steer({ accepted: 9, rejected: 1, rejectedSentAt: steadyNow() });
    expect(rates.at(-1)?.rate).toEqual(callRate(refused.rate ?? 0));
  });

  test('teaches nothing by what gets lost of it: the first one that the API states is asked for as it is', async () => {
    const { lose } = begin({ auto: true, perSecond: 40 });
    // It stays at its bound for long, and so little gets lost that it would be made up for.
    const paces = await lose(0.03, 20_000);
    expect(new Set(paces.map(({ phase }) => phase))).toEqual(new Set(['starting']));
    expect(new Set(paces.slice(50).map(({ rate }) => rate))).toEqual(new Set([40]));
    const [first] = await lose(0.03, stepMs, { stated });
    expect(first?.phase).toBe('stated');
    expect(first?.asked).toEqual(callRate(first?.rate ?? 0));
  });

  test('stays below its bound, also one that comes later', async () => {
    const { go, steer } = begin({ auto: true, perSecond: 30 });
    for (const { rate } of await go(10_000)) expect(rate).toBeLessThanOrEqual(30);
    expect((await steer({}, { auto: true, perSecond: 5 })).rate).toBeLessThanOrEqual(5);
  });

  test('is left for a fixed one, and come back to', async () => {
    const { steer, rates } = begin(auto);
    const first = await steer();
    await steer({}, { auto: false, perSecond: 500 });
    expect(rates.at(-1)?.rate).toEqual(callRate(500));
    expect((await steer()).phase).toBe(first.phase);
    expect(rates.at(-1)?.rate).toEqual(callRate(first.rate ?? 0));
  });

  test('rests as long as the API asks, pauses at once only for longer, and renews the pause', async () => {
    const { steer, pauses } = begin(auto);
    const waitUntil = steadyNow() + 60_000;
    const refused = { rejected: 1, rejectedSentAt: steadyNow(), waitUntil };
    expect((await steer(refused)).restUntil).toBe(waitUntil);
    expect(pauses).toEqual([60_000]);
    vi.advanceTimersByTime(stepMs);
    await steer({ waitUntil });
    await steer({ waitUntil: waitUntil - 5_000 });
    expect(pauses).toEqual([60_000]);
    await steer({ waitUntil: waitUntil + 5_000 });
    expect(pauses).toEqual([60_000, 65_000 - stepMs]);
    // A Redis that has lost its data has lost the pause, too.
    vi.advanceTimersByTime(10_000);
    await steer({});
    expect(pauses.at(-1)).toBe(55_000 - stepMs);
  });

  test('rests first, when an earlier run was asked to wait', async () => {
    const waitUntil = steadyNow() + 3_600_000;
    const { steer, pauses } = begin(auto, { waitUntil });
    expect((await steer()).restUntil).toBe(waitUntil);
    vi.advanceTimersByTime(stepMs);
    expect((await steer()).restUntil).toBe(waitUntil);
    expect(pauses).toEqual([3_600_000]);
  });
});

describe('a rest that nobody wants, as a server has it whose clock was set back', () => {
  test.each<[CommonPolicy, number]>([
    [auto, 6_000],
    [{ auto: false, perSecond: 10 }, 36_000],
    [{ auto: false }, 3_600_000],
  ])('ends (%j, %d ms)', async (policy, restMs) => {
    const { rest, steer } = begin(policy);
    await steer();
    rest.ms = restMs;
    for (let passed = 0; passed < 3_000; passed += stepMs) {
      await steer();
      vi.advanceTimersByTime(stepMs);
    }
    expect(rest).toEqual({ ms: 0, ended: 1 });
  });

  test('ends for what is left of one that the API wants', async () => {
    const { rest, pauses, steer } = begin({ auto: false, perSecond: 10 });
    const waitUntil = steadyNow() + 60_000;
    rest.ms = 3_660_000;
    for (let passed = 0; passed < 3_000; passed += stepMs) {
      await steer({ waitUntil });
      vi.advanceTimersByTime(stepMs);
    }
    expect([rest.ended, pauses]).toEqual([1, [59_000]]);
  });

  test.each<[string, CommonPolicy, number, Partial<Traffic>]>([
    ['of a window of a slow rate', { auto: false, perSecond: 0.01 }, 100_000, {}],
    ['that the API wants', auto, 60_000, { waitUntil: 60_000 }],
    ['that it wants of who keeps a rate', { auto: false, perSecond: 10 }, 60_000, { waitUntil: 60_000 }],
    ['that another worker may have made', auto, 2_000, {}],
    ['of a row that was told to slow down, and not for how long', { auto: false }, 30_000, {}],
  ])('is none %s', async (_title, policy, restMs, { waitUntil }) => {
    const { rest, steer } = begin(policy);
    const until = waitUntil === undefined ? {} : { waitUntil: steadyNow() + waitUntil };
    for (let passed = 0; passed < 3_000; passed += stepMs) {
      rest.ms = restMs;
      await steer(until);
      vi.advanceTimersByTime(stepMs);
    }
    expect(rest.ended).toBe(0);
  });

  test('is none before it was seen twice: news of it may come', async () => {
    const { rest, steer } = begin(auto);
    for (let passed = 0; passed < 5_000; passed += stepMs) {
      rest.ms = passed < 900 ? 3_600_000 : 0;
      await steer();
      vi.advanceTimersByTime(stepMs);
    }
    expect(rest.ended).toBe(0);
  });
});

describe('what gets lost of a rate', () => {
  test('is made up for when the API states it', async () => {
    const lost = 0.02;
    const last = (await begin(auto).lose(lost, 60_000, { stated })).at(-1);
    expect(last?.phase).toBe('stated');
    const { rate = 0, asked } = last ?? {};
    const reached = asked === undefined ? 0 : (perSecond(asked) * (1 - lost)) / rate;
    // Windows are of whole milliseconds.
    expect(reached).toBeGreaterThan(0.99);
    expect(reached).toBeLessThan(1.01);
  });

  test('is made up for when it is held, and from then on also when others are tried', async () => {
    const { lose } = begin(auto, { rate: 40 });
    const paces = await lose(0.02, 60_000, { limit: 42 });
    for (const tried of ['holding', 'probing', 'settling']) {
      const late = paces.slice(paces.length / 2).filter(({ phase }) => phase === tried);
      expect(late).not.toEqual([]);
      for (const { rate = 0, asked } of late) {
        expect(perSecond(asked)).toBeGreaterThan(perSecond(callRate(rate)));
        expect(perSecond(asked)).toBeLessThanOrEqual(rate * 1.03);
      }
    }
  });

  test('is not made up for above the bound', async () => {
    const { lose } = begin({ auto: true, perSecond: 20 });
    for (const { asked } of await lose(0.02, 20_000, { stated }))
      expect(perSecond(asked)).toBeLessThanOrEqual(20);
  });
});

describe('a rate of a single worker', () => {
  const asked = ({ rates }: { readonly rates: readonly { readonly rate: CallRate | undefined }[] }) =>
    rates.at(-1)?.rate;

  test('is kept by its gate: the queue lets out a little more', async () => {
    const { steer, ...fake } = begin(auto, { rate: 40 }, 1);
    const { rate = 0 } = await steer();
    expect(asked(fake)).toEqual(callRate(rate * 1.05));
  });

  test('that the user bounds is never let out faster', async () => {
    const { steer, ...fake } = begin({ auto: true, perSecond: 20 }, { rate: 40 }, 1);
    const { gatesKeep } = await steer();
    expect(asked(fake)).toEqual(callRate(20));
    expect(gatesKeep).toBe(false);
  });

  test('that the user wants is kept by the queue', async () => {
    const { steer, ...fake } = begin({ auto: false, perSecond: 40 }, {}, 1);
    await steer();
    expect(asked(fake)).toEqual(callRate(40));
  });
});

describe('a rate of several workers', () => {
  test('is kept by their gates, which are told whose turn it is', async () => {
    const { steer } = begin(auto, { rate: 40 }, 3);
    const start = steadyNow();
    expect(await steer()).toMatchObject({ gatesKeep: true, turnAt: start });
    vi.advanceTimersByTime(1_000);
    const { rate = 0, turnAt = 0 } = await steer();
    expect(turnAt).toBeGreaterThan(start);
    expect(turnAt).toBeLessThanOrEqual(steadyNow());
    expect((turnAt - start) % (3_000 / rate)).toBeLessThan(1e-6);
  });
});

test('a rate that could not be set is set the next time', async () => {
  const { queue, steer, changes } = begin({ auto: false, perSecond: 50 });
  const { setRate } = queue;
  queue.setRate = () => Promise.reject(new Error('away'));
  await expect(steer()).rejects.toThrow('away');
  queue.setRate = setRate;
  await steer();
  expect(changes()).toEqual([[callRate(50), 0]]);
});
