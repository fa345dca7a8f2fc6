import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slotReply } from '../../../src/engine/cluster/cluster.ts';
import {
  leastGraceMs,
  newTimeline,
  type RateCommand,
  type SlotReply,
  type SlotRequest,
  setRate,
  takeSlots,
} from '../../../src/engine/cluster/timeline.ts';
import { timelineScripts } from '../../../src/engine/cluster/timeline-script.ts';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';

/** A timeline whose clock a test sets. */
interface TestedTimeline {
  setRate(now: number, command: RateCommand): Promise<boolean>;
  take(now: number, request: SlotRequest): Promise<SlotReply>;
}

/** The reference for the scripts. */
function timelineInMemory(): TestedTimeline {
  const state = newTimeline();
  return {
    setRate: async (now, command) => setRate(state, now, command),
    take: async (now, request) => takeSlots(state, now, request),
  };
}

const start = 1_800_000_000_000.25;

function asks(worker: string, changes: Partial<SlotRequest> = {}): SlotRequest {
  return { worker, want: 100, need: 10, active: 0, aheadMs: 100, leadInMs: 0, ...changes };
}

function rate(perSecond: number | undefined, changes: Partial<RateCommand> = {}): RateCommand {
  return { worker: 'leader', rate: perSecond, cap: 50, restMs: 0, ...changes };
}

/** Slots of a reply, in milliseconds from the start. */
function slotsOf({ count, from, gap = 0 }: SlotReply): number[] {
  return Array.from({ length: count }, (_, index) => Math.round(from + index * gap - start));
}

describe('the timeline', () => {
  /** A timeline with this rate. */
  async function keeping(first: RateCommand) {
    const timeline = timelineInMemory();
    await timeline.setRate(start, first);
    const slots = async (at: number, worker: string, changes: Partial<SlotRequest> = {}) =>
      slotsOf(await timeline.take(start + at, asks(worker, changes)));
    return { timeline, slots };
  }

  test('gives no slot and no seat before a rate is set, or after it has expired', async () => {
    const timeline = timelineInMemory();
    expect(await timeline.take(start, asks('a'))).toMatchObject({ isSet: false, count: 0, seats: 0 });
    await timeline.setRate(start, rate(50));
    expect(await timeline.take(start + 1_999, asks('a'))).toMatchObject({ isSet: true });
    expect(await timeline.take(start + 2_001, asks('a'))).toMatchObject({ isSet: false, count: 0 });
  });

  test('gives slots one after the other, for any worker', async () => {
    const { slots } = await keeping(rate(50));
    // What was taken before is unknown: the first slots come after the time ahead.
    expect(await slots(0, 'a')).toEqual([100]);
    expect(await slots(60, 'a', { want: 2 })).toEqual([120, 140]);
    expect(await slots(75, 'b')).toEqual([160]);
    expect(await slots(75, 'a')).toEqual([]);
  });

  test('gives no slots of the past', async () => {
    const { timeline, slots } = await keeping(rate(50));
    await timeline.take(start, asks('a'));
    await timeline.setRate(start + 1_000, rate(50));
    expect(await slots(1_000, 'a', { want: 2, leadInMs: 7 })).toEqual([1_007, 1_027]);
  });

  test('gives a worker its fair part since its last visit, and slots that would soon be lost', async () => {
    const { timeline, slots } = await keeping(rate(100));
    await timeline.take(start + 100, asks('a', { want: 0 }));
    await timeline.take(start + 190, asks('a', { want: 0 }));
    await timeline.take(start + 190, asks('b', { want: 0 }));
    // Those of the nearer half, of which the fair part would be one.
    expect(await slots(200, 'a')).toEqual([200, 210, 220, 230, 240, 250]);
    expect(await slots(200, 'b')).toEqual([260]);
    expect(await slots(245, 'a')).toEqual([270, 280, 290]);
    expect(await slots(245, 'b')).toEqual([300, 310]);
  });

  test('spaces slots so far that no second has more calls than the rate, and two', async () => {
    const timeline = timelineInMemory();
    for (const perSecond of [0.5, 50, 200, 300, 2_000]) {
      await timeline.setRate(start, rate(perSecond));
      const { gap = 0 } = await timeline.take(start, asks('a'));
      const graceMs = Math.max(gap, leastGraceMs);
      // Calls of slots this long before a second may leave in it.
      expect((1_000 + graceMs) / gap).toBeLessThanOrEqual(perSecond + 1.001);
    }
  });

  test('moves free slots with the rate, and counts taken ones', async () => {
    const { timeline, slots } = await keeping(rate(100));
    await timeline.take(start, asks('a'));
    await timeline.setRate(start, rate(50));
    expect((await slots(150, 'a'))[0]).toBe(220);
  });

  test('gives no slots while the API rests, nor when the rate is not kept', async () => {
    const { timeline } = await keeping(rate(50, { restMs: 500 }));
    expect(await timeline.take(start + 100, asks('a'))).toMatchObject({ count: 0, restMs: 400, gap: 20 });
    await timeline.setRate(start + 200, rate(undefined));
    const free = await timeline.take(start + 300, asks('a'));
    expect(free).toMatchObject({ count: 0, restMs: 0, isSet: true });
    expect(free.gap).toBeUndefined();
  });

  test('gives a slot when the rest is over, however many were taken before', async () => {
    const { timeline, slots } = await keeping(rate(50));
    expect(await slots(0, 'a')).toEqual([100]);
    await timeline.setRate(start + 10, rate(1, { restMs: 500 }));
    await timeline.setRate(start + 110, rate(1, { restMs: 400 }));
    expect(await slots(510, 'a')).toEqual([510]);
  });

  test('obeys the leading worker until it is silent', async () => {
    const timeline = timelineInMemory();
    expect(await timeline.setRate(start, rate(50))).toBe(true);
    expect(await timeline.setRate(start + 1_999, rate(500, { worker: 'another' }))).toBe(false);
    expect(await timeline.take(start + 1_999, asks('a'))).toMatchObject({ gap: 20 });
    expect(await timeline.setRate(start + 2_000, rate(500, { worker: 'another' }))).toBe(true);
    expect(await timeline.setRate(start + 2_001, rate(50))).toBe(false);
  });

  test('shares calls in flight by need, and gives each seat away only when free', async () => {
    const { timeline } = await keeping(rate(50, { cap: 10 }));
    const seats = async (at: number, worker: string, need: number, active = 0) =>
      (await timeline.take(start + at, asks(worker, { need, active }))).seats;
    expect(await seats(0, 'a', 8)).toBe(8);
    expect(await seats(1, 'b', 8)).toBe(2);
    // Less than its fair part is free for b: a keeps only its own.
    expect(await seats(2, 'a', 8, 7)).toBe(5);
    expect(await seats(3, 'b', 8, 2)).toBe(3);
    expect(await seats(4, 'a', 2, 2)).toBe(2);
    expect(await seats(5, 'b', 8, 3)).toBe(5);
    expect(await seats(400, 'b', 8, 5)).toBe(8);
    // A silent worker frees its seats.
    await timeline.setRate(start + 1_900, rate(50, { cap: 10 }));
    expect(await seats(2_100, 'b', 12, 3)).toBe(10);
  });

  test('lets more workers than seats take turns', async () => {
    const timeline = timelineInMemory();
    const turns = new Map([...'abc'].map((worker) => [worker, 0]));
    for (let at = 0; at < 12_000; at += 100) {
      await timeline.setRate(start + at, rate(50, { cap: 1 }));
      for (const [worker, had] of turns) {
        const { seats } = await timeline.take(start + at, asks(worker, { need: 1 }));
        turns.set(worker, had + seats);
      }
    }
    for (const had of turns.values()) expect(had).toBeGreaterThan(20);
  });

  test('recovers when its clock is set', async () => {
    const { timeline } = await keeping(rate(50));
    await timeline.take(start, asks('a'));
    for (const by of [-3_600_000, 3_600_000]) {
      const now = start + by;
      expect(await timeline.setRate(now, rate(50, { worker: `after ${by}` }))).toBe(true);
      const reply = await timeline.take(now, asks('a'));
      expect([reply.isSet, reply.seats]).toEqual([true, 10]);
      expect((await timeline.take(now + 1_000, asks('a'))).count).toBeGreaterThan(0);
    }
  });
});

const workers = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const step = fc.record({
  passMs: fc.oneof(
    fc.integer({ min: 0, max: 200 }),
    fc.integer({ min: -5_000, max: 5_000 }),
    // Sums that were made this recently are still valid.
    fc.constantFrom(0, 0.125, 0.5),
  ),
  command: fc.oneof(
    fc.record({
      kind: fc.constant('rate' as const),
      worker: fc.constantFrom(...workers),
      rate: fc.option(fc.double({ min: 0.01, max: 2_000, noNaN: true }), { nil: undefined }),
      cap: fc.integer({ min: 1, max: 30 }),
      restMs: fc.constantFrom(0, 0, 0, 300),
    }),
    fc.record({
      kind: fc.constant('take' as const),
      worker: fc.constantFrom(...workers),
      want: fc.integer({ min: 0, max: 50 }),
      need: fc.integer({ min: 0, max: 20 }),
      active: fc.integer({ min: 0, max: 10 }),
      aheadMs: fc.integer({ min: 20, max: 300 }),
      leadInMs: fc.integer({ min: 0, max: 50 }),
    }),
  ),
});

/** The scripts, with the clock of a test as their last argument. */
const scripts = timelineScripts('local now = tonumber(ARGV[#ARGV])');

describeWithRedis('the script of the timeline', () => {
  let server: RedisServer;
  let datastore: Datastore;
  let opened = 0;

  beforeAll(async () => {
    server = await startRedis();
    datastore = (await openRedis({ url: server.url, purpose: 'tests' })).datastore;
  });
  afterAll(async () => {
    await datastore.close();
    await server.stop();
  });

  const open = async (): Promise<TestedTimeline> => {
    opened += 1;
    const keys = [`${datastore.prefix}:timeline-${opened}`];
    const ask = (script: string, ...args: (string | number)[]) =>
      datastore.runScript?.(script, keys, args) ?? Promise.reject(new Error('Redis runs scripts.'));
    return {
      setRate: async (now, { worker, rate, cap, restMs }) =>
        (await ask(scripts.setRate, worker, rate ?? '', cap, restMs, now)) === 1,
      take: async (now, { worker, want, need, active, aheadMs, leadInMs }) =>
        slotReply((await ask(scripts.take, worker, want, need, active, aheadMs, leadInMs, now)) as string[]),
    };
  };

  test('replies with the same numbers as the function, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const both = [timelineInMemory(), await open()] as const;
        let now = start;
        for (const { passMs, command } of steps) {
          now += passMs;
          const { kind, ...rest } = command;
          const [expected, actual] = await Promise.all(
            both.map(
              (timeline): Promise<unknown> =>
                kind === 'rate'
                  ? timeline.setRate(now, rest as RateCommand)
                  : timeline.take(now, rest as SlotRequest),
            ),
          );
          expect(actual).toEqual(expected);
        }
      }),
      { numRuns: 60 },
    );
  });
});
