import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnusedSlots } from '../../../src/engine/rate/unused-slots.ts';

const gap = 10;

/** When calls left that always waited, in a process that ran only at these times. The slots begin at 0. */
function callsAt(times: readonly number[], { isAlone }: { readonly isAlone: boolean }): number[] {
  const held = new UnusedSlots();
  held.add(0, gap, 1_000);
  return times.flatMap((now) => {
    held.drop(now, 0, isAlone);
    const calls: number[] = [];
    while (held.use(now) !== undefined) calls.push(now);
    return calls;
  });
}

/** Slots of which the first is used at 0. */
function usedAtZero() {
  const held = new UnusedSlots();
  held.add(0, gap, 10);
  return { held, leaveBy: held.use(0) };
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
    const calls = callsAt(every(milliseconds), { isAlone: true });
    expect(calls.length).toBeGreaterThan(part * 500);
    expect(mostInASecond(calls)).toBeLessThanOrEqual(101);
  });

  /** For how long a process does not run, how long its calls then take to leave, and for how long it runs each millisecond. */
  const delay = fc.tuple(
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 0, max: 40 }),
    fc.integer({ min: 0, max: 200 }),
  );
  /** They made four calls more while a late call counted from its admission, not from when it left. */
  const twoMore: [number, number, number][] = [
    [142, 28, 181],
    [140, 21, 37],
    [4, 11, 161],
    [9, 3, 5],
    [145, 38, 183],
    [8, 25, 2],
  ];

  test('are never exceeded by more than two, whenever the process runs and its calls leave', () => {
    fc.assert(
      fc.property(fc.array(delay, { maxLength: 40 }), (delays) => {
        const held = new UnusedSlots();
        held.add(0, gap, 2_500);
        const calls: number[] = [];
        let now = 0;
        const run = (leavingMs: number): void => {
          held.drop(now, 0, true);
          const admitted: number[] = [];
          for (let leaveBy = held.use(now); leaveBy !== undefined; leaveBy = held.use(now))
            admitted.push(leaveBy);
          for (const leaveBy of admitted) {
            now += leavingMs / admitted.length;
            held.noteSent(now, leaveBy);
            calls.push(now);
          }
        };
        for (const [pauseMs, leavingMs, punctualMs] of delays) {
          now += pauseMs;
          run(leavingMs);
          for (const until = now + punctualMs; now < until; now += 1) run(0);
        }
        expect(mostInASecond(calls)).toBeLessThanOrEqual(1_000 / gap + 2);
      }),
      { examples: [[twoMore]] },
    );
  });

  test('are lost a gap after their time where other workers use the slots between them', () => {
    expect(callsAt([9, 20, 45, 60], { isAlone: false })).toEqual([9, 20, 45, 60]);
    expect(callsAt([9, 20, 45, 60], { isAlone: true })).toHaveLength(7);
  });

  test.each([
    { what: 'leaves in time', leavesAt: 10, laterCalls: [10, 20, 30] },
    { what: 'leaves late', leavesAt: 11, laterCalls: [20, 30] },
  ])('have a call each, and one fewer when a call $what', ({ leavesAt, laterCalls }) => {
    const { held, leaveBy } = usedAtZero();
    held.noteSent(leavesAt, leaveBy);
    const calls = [10, 20, 30].filter((now) => {
      held.drop(now + 1, 0, false);
      return held.use(now + 1) !== undefined;
    });
    expect(calls).toEqual(laterCalls);
  });

  test('are fewer by a call that was made once more', () => {
    const { held, leaveBy } = usedAtZero();
    held.noteSent(0, leaveBy);
    held.noteSent(2);
    expect(held.use(10)).toBeUndefined();
    held.drop(20, 0, false);
    expect(held.use(20)).toBeDefined();
  });
});
