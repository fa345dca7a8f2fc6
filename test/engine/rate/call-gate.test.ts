import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow } from '../../../src/base/async/clock.ts';
import type { CallGate } from '../../../src/engine/rate/call-gate.ts';
import { gateOnTimeline, type Rules } from './gate-on-timeline.ts';

/** A gate that records which row entered it, and after how many milliseconds. */
function begin(rules: Rules = { cap: 1_000 }, concurrency?: number) {
  const start = steadyNow();
  const opened = gateOnTimeline(rules, concurrency);
  let current = rules;
  const renewal = setInterval(() => opened.set(current), 500);
  const admitted: [who: number, atMs: number][] = [];
  const sentAway: number[] = [];
  let came = 0;
  return {
    ...opened,
    admitted,
    sentAway,
    times: () => admitted.map(([, at]) => at),
    /** For all calls from now on. */
    set(rules: Rules): void {
      current = rules;
      opened.set(rules);
    },
    /** No worker sets the rate any more. */
    abandon: () => clearInterval(renewal),
    /** This many rows arrive at once. */
    come(visitors: number): void {
      for (let count = 0; count < visitors; count += 1) {
        const who = came++;
        void called(opened.gate).then((isAdmitted) => {
          if (isAdmitted) admitted.push([who, steadyNow() - start]);
          else sentAway.push(who);
        });
      }
    },
    pass: (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds),
  };
}

/** Asks this many times. @returns how many have been answered */
function counting(times: number, ask: () => Promise<unknown>): () => number {
  let answers = 0;
  for (let count = 0; count < times; count += 1) void ask().then(() => (answers += 1));
  return () => answers;
}

/** A row whose intent is written at once. */
async function called(gate: CallGate): Promise<boolean> {
  return (await gate.reserve()) && (await gate.enter(0)) !== undefined;
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a gate', () => {
  test('asks the timeline, again when it did not answer, before it calls after it reported nothing to call', async () => {
    const { gate, failure, errors, admitted, come, pass } = begin();
    come(1);
    await pass(10);
    gate.leave();
    await pass(100);
    failure.error = new Error('away');
    come(1);
    await pass(500);
    expect([admitted.length, errors.length > 0]).toEqual([1, true]);
    failure.error = undefined;
    await pass(500);
    expect(admitted).toHaveLength(2);
  });

  test('has as many calls in flight as the user requests, whatever the timeline says', async () => {
    const { gate, come, pass } = begin({ cap: 2 }, 5);
    come(10);
    await pass(1_000);
    expect(gate.active).toBe(5);
  });

  test('gives no more turns than there are slots within the time that writing an intent takes', async () => {
    const { gate, pass } = begin({ cap: 1_000, rate: 50 });
    const turns = counting(50, () => gate.reserve());
    await pass(10_000);
    // Those that arrive within 30 ms, and those of the last 100 ms.
    expect(turns()).toBeGreaterThan(0);
    expect(turns()).toBeLessThanOrEqual(8);
  });

  test('gives turns for one seat in five ahead where no rate is kept, and lets no more in than seats', async () => {
    const { gate, pass } = begin({ cap: 10 });
    const turns = counting(15, () => gate.reserve());
    await pass(1_000);
    expect(turns()).toBe(12);
    const admitted = counting(12, () => gate.enter(1));
    await pass(10);
    expect([admitted(), turns()]).toEqual([10, 12]);
    gate.leave();
    await pass(10);
    expect([admitted(), turns()]).toEqual([11, 13]);
    gate.release();
    await pass(10);
    expect([admitted(), turns()]).toEqual([11, 14]);
  });

  test('lets a row in at the next slot when its intent was late', async () => {
    const { gate, pass } = begin({ cap: 1_000, rate: 5 });
    const turn = gate.reserve();
    await pass(1_000);
    expect(await turn).toBe(true);
    const admittedAt = gate.enter(1_000);
    await pass(250);
    expect(await admittedAt).toBeGreaterThan(steadyNow() - 250);
  });

  test('turns away rows with intents when a long rest begins, and frees their turns', async () => {
    const { gate, set, pass } = begin({ cap: 2 });
    const turns = [gate.reserve(), gate.reserve()];
    await pass(10);
    expect(await Promise.all(turns)).toEqual([true, true]);
    set({ cap: 2, restMs: 60_000 });
    const late = gate.enter(0);
    await pass(10);
    expect(await late).toBeUndefined();
    gate.release();
    set({ cap: 2 });
    const others = [called(gate), called(gate)];
    await pass(100);
    expect(await Promise.all(others)).toEqual([true, true]);
  });

  test('lets no row in before there is a rate, nor after it is no longer renewed', async () => {
    const { times, come, abandon, pass } = begin({ cap: 1 });
    abandon();
    come(1);
    await pass(3_000);
    expect(times()).toHaveLength(1);
    const silent = begin({ cap: 5, rate: 50 });
    silent.abandon();
    await silent.pass(3_000);
    silent.come(3);
    await silent.pass(10_000);
    expect(silent.admitted).toEqual([]);
    silent.set({ cap: 5, rate: 50 });
    await silent.pass(500);
    expect(silent.admitted).toHaveLength(3);
  });

  test('waits for a short rest, and turns all rows away for a longer one', async () => {
    const { gate, times, sentAway, set, come, pass } = begin();
    const told: (readonly [isResting: boolean, sentAway: number])[] = [];
    gate.onSendAway = () => told.push([gate.isResting, sentAway.length]);
    gate.noteRefusal(steadyNow() + 100);
    come(1);
    await pass(99);
    expect(times()).toEqual([]);
    await pass(20);
    expect(times()).toHaveLength(1);
    expect(gate.isResting).toBe(false);
    set({ cap: 1_000, restMs: 60_000 });
    come(3);
    await pass(0);
    expect(sentAway).toEqual([1, 2, 3]);
    // The worker must know before it claims rows in the place of these.
    expect(told[0]).toEqual([true, 0]);
    expect(gate.isResting).toBe(true);
    // The leading worker may end it sooner.
    set({ cap: 1_000 });
    come(1);
    await pass(20);
    expect(times()).toHaveLength(2);
  });

  test('turns away waiting and later rows once it is closed', async () => {
    const { gate, sentAway, come, pass } = begin({ cap: 0 });
    come(2);
    await pass(100);
    gate.close();
    come(1);
    await pass(0);
    expect(sentAway).toEqual([0, 1, 2]);
  });

  test('never has more in flight than it may, nor more calls in a window than slots', async () => {
    const event = fc.oneof(
      fc.record({ type: fc.constant('come' as const), visitors: fc.integer({ min: 1, max: 8 }) }),
      fc.record({ type: fc.constant('leave' as const) }),
      fc.record({ type: fc.constant('pass' as const), milliseconds: fc.integer({ min: 0, max: 500 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 60 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 6 }),
        async (events, rate, cap) => {
          const { gate, admitted, times, come, abandon, pass } = begin({ cap, rate });
          for (const happened of events) {
            if (happened.type === 'come') come(happened.visitors);
            if (happened.type === 'leave' && gate.active > 0) gate.leave();
            await pass(happened.type === 'pass' ? happened.milliseconds : 0);
            expect(gate.active).toBeLessThanOrEqual(cap);
          }
          abandon();
          gate.close();
          expect(admitted.map(([who]) => who)).toEqual(admitted.map((_, index) => index));
          const at = times();
          for (const [index, from] of at.entries())
            expect(at[index + rate + 1] ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(from + 1_000);
        },
      ),
      { numRuns: 40 },
    );
  });
});
