import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeldSlots, type LateUse } from '../../../src/engine/rate/held-slots.ts';

const gap = 10;
const shared: LateUse = { below: 0.8, upTo: 0.9, isShared: true };
/** For a worker that is on time for most of its slots. */
const punctual: LateUse = { below: 0, upTo: 1, isShared: true };
const alone: LateUse = { below: 1, upTo: 1, isShared: false };

/** When calls left that always waited, in a process that ran only at these times. The slots begin at 0. */
function callsAt(times: readonly number[], lateUse: LateUse): number[] {
  const held = new HeldSlots(lateUse);
  held.add(0, gap, 1_000);
  return times.flatMap((now) => {
    held.drop(now, 0);
    const calls: number[] = [];
    while (held.use(now)) calls.push(now);
    return calls;
  });
}

function mostInASecond(calls: readonly number[]): number {
  return Math.max(...calls.map((from) => calls.filter((at) => at >= from && at < from + 1_000).length));
}

function every(milliseconds: number): number[] {
  return Array.from({ length: Math.floor(5_000 / milliseconds) }, (_, index) => (index + 1) * milliseconds);
}

describe('the slots of a second', () => {
  test.each([
    [2, 0.99],
    [30, 0.98],
    [60, 0.98],
    [90, 0.92],
  ])('are used by a process that runs only every %d ms: %d of them', (milliseconds, part) => {
    const calls = callsAt(every(milliseconds), alone);
    expect(calls.length).toBeGreaterThan(part * 500);
    expect(mostInASecond(calls)).toBeLessThanOrEqual(101);
  });

  /** For how long a process does not run, how long its calls then take to leave, and for how long it runs each millisecond. */
  const delay = fc.tuple(
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ min: 0, max: 200 }),
  );
  /** They made two calls more while a late call counted from its admission, not from when it left. */
  const twoMore: [number, number, number][] = [
    [142, 28, 181],
    [140, 21, 37],
    [4, 11, 161],
    [9, 3, 5],
    [145, 38, 183],
    [8, 25, 2],
  ];

  test('are never exceeded by more than one, whenever the process runs and its calls leave', () => {
    fc.assert(
      fc.property(fc.array(delay, { maxLength: 40 }), (delays) => {
        const held = new HeldSlots(alone);
        held.add(0, gap, 2_500);
        const calls: number[] = [];
        let now = 0;
        const run = (leavingMs: number): void => {
          held.drop(now, 0);
          const admittedAt = now;
          let admitted = 0;
          while (held.use(now)) admitted += 1;
          for (let call = 0; call < admitted; call += 1) {
            now += leavingMs / admitted;
            held.sent(now, admittedAt);
            calls.push(now);
          }
        };
        for (const [pauseMs, leavingMs, punctualMs] of delays) {
          now += pauseMs;
          run(leavingMs);
          for (const until = now + punctualMs; now < until; now += 1) run(0);
        }
        expect(mostInASecond(calls)).toBeLessThanOrEqual(1_000 / gap + 1);
      }),
      { examples: [[twoMore]] },
    );
  });

  test('are lost when they are late, where others have some of them, unless many were lost before', () => {
    const calls = callsAt(
      [...every(2).filter((at) => at < 2_000), 2_060, ...every(2).filter((at) => at > 2_060)],
      shared,
    );
    expect(calls.filter((at) => at === 2_060)).toHaveLength(1);
    const behind = callsAt(every(40), shared);
    expect(behind.length).toBeGreaterThan(390);
    expect(behind.length).toBeLessThan(420);
  });

  test('have one call fewer each when a call left late, where others have the slots beside them', () => {
    const held = new HeldSlots(punctual);
    held.add(0, gap, 10);
    expect(held.use(0)).toBe(true);
    held.sent(8, 0);
    expect(held.use(10)).toBe(true);
    held.sent(40, 10);
    held.drop(40, 0);
    expect([held.use(40), held.use(40)]).toEqual([false, false]);
    held.drop(50, 0);
    expect(held.use(50)).toBe(true);
  });

  test('are fewer by a call that was made once more', () => {
    const held = new HeldSlots(punctual);
    held.add(0, gap, 3);
    expect(held.use(0)).toBe(true);
    held.sent(0, 0);
    held.sent(2);
    expect(held.use(10)).toBe(false);
    expect(held.use(20)).toBe(true);
  });
});
