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

  test('are lost after more than a tenth of a second', () => {
    expect(callsAt([500], alone)).toHaveLength(11);
  });

  test('are never exceeded by more than one, whenever the process runs', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 20, maxLength: 60 }), (pauses) => {
        let now = 0;
        const times = pauses.map((pause) => {
          now += pause;
          return now;
        });
        expect(mostInASecond(callsAt(times, alone))).toBeLessThanOrEqual(1_000 / gap + 1);
      }),
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

  test('are as many as the calls of the second after a call that left late, where there are no other workers', () => {
    const held = new HeldSlots(alone);
    held.add(0, gap, 1_000);
    const calls: number[] = [];
    for (let now = 500; now < 3_000; now = Math.max(now, calls.at(-1) ?? 0) + 1) {
      held.drop(now, 0);
      const admitted: number[] = [];
      while (held.use(now)) admitted.push(now);
      for (const admittedAt of admitted) {
        const leftAt = admittedAt === 500 ? 560 : admittedAt;
        held.sent(leftAt, admittedAt);
        calls.push(leftAt);
      }
    }
    expect(mostInASecond(calls)).toBeLessThanOrEqual(101);
    expect(calls.length).toBeGreaterThan(240);
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
