import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../src/clock.ts';
import { CallGate, type GateRules } from '../../src/worker/call-gate.ts';

/** By how much the system's clock is set. */
const jumps = [-3_600_000, -30_000, 3_600_000];

const free: GateRules = { concurrency: 1_000, spacingMs: 0 };

/** A gate with all that came of those who wanted to enter it: who, and after how many milliseconds. */
function begin(rules: Partial<GateRules> = {}) {
  const start = steadyNow();
  const gate = new CallGate({ ...free, ...rules });
  const admitted: [who: number, atMs: number][] = [];
  const sentAway: number[] = [];
  let came = 0;
  return {
    gate,
    admitted,
    sentAway,
    /** So many come at once. */
    come(visitors: number): void {
      for (let count = 0; count < visitors; count += 1) {
        const who = came++;
        void gate.enter().then((isAdmitted) => {
          if (isAdmitted) admitted.push([who, steadyNow() - start]);
          else sentAway.push(who);
        });
      }
    },
    pass: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a gate', () => {
  test('lets calls in at once, in the order in which they come', async () => {
    const { gate, admitted, come, pass } = begin();
    come(5);
    await pass(0);
    expect(admitted).toEqual([0, 1, 2, 3, 4].map((who) => [who, 0]));
    expect(gate.active).toBe(5);
  });

  test('lets in no more than may be in flight, and the next one when one leaves', async () => {
    const { gate, admitted, come, pass } = begin({ concurrency: 2 });
    come(4);
    await pass(10_000);
    expect(admitted.map(([who]) => who)).toEqual([0, 1]);
    gate.leave();
    await pass(0);
    expect(admitted.map(([who]) => who)).toEqual([0, 1, 2]);
    gate.leave();
    gate.leave();
    await pass(0);
    expect(admitted.map(([who]) => who)).toEqual([0, 1, 2, 3]);
    expect(gate.active).toBe(1);
  });

  test('tells the most that were in flight since it was asked the last time', async () => {
    const { gate, come, pass } = begin();
    come(3);
    await pass(0);
    gate.leave();
    gate.leave();
    expect(gate.takeBusiest()).toBe(3);
    expect(gate.takeBusiest()).toBe(1);
    come(1);
    await pass(0);
    expect(gate.takeBusiest()).toBe(2);
  });

  test('never has more in flight than it may, and lets everybody in in order, whatever happens', async () => {
    const event = fc.oneof(
      fc.record({ type: fc.constant('come' as const), visitors: fc.integer({ min: 1, max: 8 }) }),
      fc.record({ type: fc.constant('leave' as const) }),
      fc.record({ type: fc.constant('pass' as const), milliseconds: fc.integer({ min: 0, max: 500 }) }),
      fc.record({
        type: fc.constant('rules' as const),
        rules: fc.record(
          {
            concurrency: fc.integer({ min: 1, max: 6 }),
            spacingMs: fc.integer({ min: 0, max: 200 }),
            turnAt: fc.integer({ min: 0, max: 4_000_000_000_000 }),
          },
          { requiredKeys: ['concurrency', 'spacingMs'] },
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        const { gate, admitted, sentAway, come, pass } = begin({ concurrency: 3 });
        let concurrency = 3;
        let came = 0;
        for (const happened of events) {
          const before = gate.active;
          if (happened.type === 'come') {
            come(happened.visitors);
            came += happened.visitors;
          }
          if (happened.type === 'leave' && gate.active > 0) gate.leave();
          if (happened.type === 'rules') {
            concurrency = happened.rules.concurrency;
            gate.rules = happened.rules;
          }
          await pass(happened.type === 'pass' ? happened.milliseconds : 0);
          // Those who are in when fewer may be stay in, but nobody joins them.
          expect(gate.active).toBeLessThanOrEqual(Math.max(concurrency, before));
        }
        gate.rules = free;
        await pass(0);
        expect(admitted.map(([who]) => who)).toEqual(Array.from({ length: came }, (_, who) => who));
        expect(sentAway).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test('leaves so much time between two calls, but for what a timer may be late', async () => {
    const { admitted, come, pass } = begin({ spacingMs: 20 });
    come(5);
    await pass(1_000);
    expect(admitted.map(([, at]) => at)).toEqual([0, 10, 30, 50, 70]);
  });

  test('counts no time that nobody used', async () => {
    const { admitted, come, pass } = begin({ spacingMs: 20 });
    come(1);
    await pass(1_000);
    come(3);
    await pass(1_000);
    expect(admitted.map(([, at]) => at)).toEqual([0, 1_000, 1_010, 1_030]);
  });

  test('spreads as many calls as the rate allows though timers know whole milliseconds only', async () => {
    const { admitted, come, pass } = begin({ spacingMs: 3.3 });
    come(1_000);
    await pass(1_000);
    expect(admitted.length).toBeGreaterThan(1_000 / 3.3 - 2);
    expect(admitted.length).toBeLessThan(1_000 / 3.3 + 2);
  });

  test('spreads nothing that timers are too coarse for', async () => {
    const { admitted, come, pass } = begin({ spacingMs: 1 });
    come(100);
    await pass(0);
    expect(admitted).toHaveLength(100);
  });

  test.each([0, 13, 30, 47])('comes to its turn, %d ms from where it began', async (turn) => {
    const { admitted, come, pass } = begin({ spacingMs: 60, turnAt: steadyNow() + turn - 60_000 });
    come(30);
    await pass(3_000);
    const times = admitted.map(([, at]) => at);
    expect(times.slice(10).map((at) => at % 60)).toEqual(times.slice(10).map(() => turn));
    const spaces = times.slice(2).map((at, index) => at - (times[index + 1] ?? 0));
    expect(Math.min(...spaces)).toBeGreaterThanOrEqual(53);
    expect(Math.max(...spaces)).toBeLessThanOrEqual(67);
  });

  test('makes nobody wait longer than the rules of now want', async () => {
    const { gate, admitted, come, pass } = begin({ spacingMs: 10_000 });
    come(4);
    await pass(100);
    gate.rules = { ...free, spacingMs: 20 };
    await pass(1_000);
    expect(admitted.map(([, at]) => at)).toEqual([0, 120, 140, 160]);
  });

  test.each(jumps)('spaces calls alike when the clock is set by %d ms', async (jump) => {
    const { admitted, come, pass } = begin({ spacingMs: 20 });
    come(5);
    await pass(15);
    vi.setSystemTime(Date.now() + jump);
    await pass(1_000);
    expect(admitted.map(([, at]) => at)).toEqual([0, 10, 30, 50, 70]);
  });
});

describe('a rest', () => {
  test.each([1, 100, 150])('of %d ms is waited for', async (restMs) => {
    const { admitted, sentAway, come, pass } = begin({ restUntil: steadyNow() + restMs });
    come(2);
    await pass(restMs - 1);
    expect(admitted).toEqual([]);
    await pass(1);
    expect(admitted).toEqual([
      [0, restMs],
      [1, restMs],
    ]);
    expect(sentAway).toEqual([]);
  });

  test('that is longer sends those away who wait, and whoever comes', async () => {
    const { gate, admitted, sentAway, come, pass } = begin({ concurrency: 1 });
    come(3);
    await pass(0);
    gate.rules = { concurrency: 1, spacingMs: 0, restUntil: steadyNow() + 60_000 };
    await pass(0);
    expect(sentAway).toEqual([1, 2]);
    come(1);
    await pass(0);
    expect(sentAway).toEqual([1, 2, 3]);
    // Nobody calls back a call that is under way.
    expect([gate.active, admitted]).toEqual([1, [[0, 0]]]);
  });

  test('of its own outlasts rules that know of none, and no shorter one cuts it', async () => {
    const { gate, admitted, sentAway, come, pass } = begin();
    gate.rest(steadyNow() + 5_000);
    gate.rest(steadyNow() + 100);
    gate.rules = free;
    come(1);
    await pass(4_900);
    come(1);
    await pass(100);
    expect([sentAway, admitted]).toEqual([[0], [[1, 5_000]]]);
  });

  test.each(jumps)('of its own is as long as it was when the clock is set by %d ms', async (jump) => {
    const { gate, admitted, sentAway, come, pass } = begin();
    gate.rest(steadyNow() + 5_000);
    vi.setSystemTime(Date.now() + jump);
    come(1);
    await pass(4_900);
    come(1);
    await pass(100);
    expect([sentAway, admitted]).toEqual([[0], [[1, 5_000]]]);
  });

  test('of its own sends those away who wait', async () => {
    const { gate, sentAway, come, pass } = begin({ concurrency: 1 });
    come(2);
    gate.rest(steadyNow() + 5_000);
    await pass(0);
    expect(sentAway).toEqual([1]);
  });

  test('lets calls in again once it is nearly over', async () => {
    const { admitted, sentAway, come, pass } = begin({ restUntil: steadyNow() + 5_000 });
    come(1);
    await pass(4_850);
    come(1);
    await pass(150);
    expect([sentAway, admitted]).toEqual([[0], [[1, 5_000]]]);
  });

  test('that is called off is not waited for', async () => {
    const { gate, admitted, come, pass } = begin({ restUntil: steadyNow() + 150 });
    come(1);
    await pass(100);
    gate.rules = free;
    await pass(0);
    expect(admitted).toEqual([[0, 100]]);
  });

  test('ends with single calls, not with a burst', async () => {
    const { admitted, come, pass } = begin({ spacingMs: 50, restUntil: steadyNow() + 100 });
    come(4);
    await pass(1_000);
    expect(admitted.map(([, at]) => at)).toEqual([100, 140, 190, 240]);
  });
});

describe('rules that change', () => {
  test('let those in who wait', async () => {
    const { gate, admitted, come, pass } = begin({ concurrency: 1 });
    come(4);
    await pass(0);
    gate.rules = { ...free, concurrency: 3 };
    await pass(0);
    expect(admitted.map(([who]) => who)).toEqual([0, 1, 2]);
  });

  test('wait until fewer are in flight, when fewer may be', async () => {
    const { gate, admitted, come, pass } = begin({ concurrency: 3 });
    come(4);
    await pass(0);
    gate.rules = { ...free, concurrency: 1 };
    gate.leave();
    gate.leave();
    await pass(0);
    expect(admitted).toHaveLength(3);
    gate.leave();
    await pass(0);
    expect(admitted).toHaveLength(4);
  });
});

describe('a gate that closes', () => {
  test('sends everybody away who waits, and whoever comes, and keeps no timer', async () => {
    const { gate, admitted, sentAway, come, pass } = begin({ spacingMs: 100 });
    come(3);
    await pass(0);
    gate.close();
    gate.close();
    come(1);
    await pass(0);
    expect([admitted.length, sentAway]).toEqual([1, [1, 2, 3]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('stays closed when the rules change or calls end', async () => {
    const { gate, sentAway, come, pass } = begin();
    come(1);
    await pass(0);
    gate.close();
    gate.rules = free;
    gate.leave();
    come(1);
    await pass(0);
    expect([gate.active, sentAway]).toEqual([0, [1]]);
  });
});
