import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  allowedRows,
  type Budget,
  nextTimeOfDay,
  type StartedBudget,
  startDeadline,
} from '../../../../src/engine/run/record/budget.ts';

const london = 'Europe/London';

describe('a run stops at the next occurrence of a time of day', () => {
  test.each([
    ['later on the same day', '06:00', london, '2026-07-01T04:59:59Z', '2026-07-01T05:00:00Z'],
    ['on the next day if it is that time', '06:00', london, '2026-07-01T05:00:00Z', '2026-07-02T05:00:00Z'],
    ['by the end of a gap', '01:30', london, '2027-03-27T12:00:00Z', '2027-03-28T01:00:00Z'],
    ['the first of two occurrences', '01:30', london, '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z'],
  ])('%s', async (_title, time, timeZone, after, expected) => {
    expect(await nextTimeOfDay({ time, timeZone }, new Date(after))).toEqual(new Date(expected));
  });
});

describe('a deadline', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Clocks that both follow the timers; the time of day can be set. */
  async function begin(budget: Budget, before?: StartedBudget) {
    const start = Date.parse('2026-07-01T04:00:00Z');
    const clocks = {
      offset: 0,
      passed: 0,
      timeOfDay: () => start + clocks.passed + clocks.offset,
      steady: () => clocks.passed,
    };
    const deadline = await startDeadline(budget, before, clocks);
    const pass = async (milliseconds: number, byTimers = 500): Promise<void> => {
      clocks.passed += milliseconds;
      await vi.advanceTimersByTimeAsync(byTimers);
    };
    return { deadline, pass, set: (milliseconds: number) => (clocks.offset += milliseconds) };
  }

  test('comes after a duration, even if the clock is set meanwhile', async () => {
    const { deadline, pass, set } = await begin({ maxDurationMs: 7_200_000 });
    set(10_000_000);
    await pass(7_199_999);
    expect(deadline.signal.aborted).toBe(false);
    set(-20_000_000);
    await pass(1);
    expect(deadline.signal.reason).toBe('the time limit of --max-duration has passed');
    deadline.close();
  });

  test('comes at a time of day, by the clock on the wall', async () => {
    const { deadline, pass, set } = await begin({ stopAt: { time: '06:00', timeZone: london } });
    await pass(3_599_000);
    expect(deadline.signal.aborted).toBe(false);
    set(1_000);
    await pass(0);
    expect(deadline.signal.reason).toBe('it is 06:00, the time of --stop-at');
    deadline.close();
  });

  test('is the same for the process that takes the run over', async () => {
    const budget: Budget = { maxDurationMs: 7_200_000, stopAt: { time: '08:00', timeZone: london } };
    const first = await begin(budget);
    expect(first.deadline.started).toEqual({
      until: '2026-07-01T06:00:00.000Z',
      stopAt: '2026-07-01T07:00:00.000Z',
    });
    const second = await begin(budget, {
      until: '2026-07-01T04:01:00.000Z',
      stopAt: '2026-07-01T07:00:00.000Z',
    });
    await second.pass(60_000);
    expect(second.deadline.signal.aborted).toBe(true);
    first.deadline.close();
    second.deadline.close();
  });
});

describe('a budget of rows', () => {
  test('allows exactly that many rows without a result, those of the canary first', () => {
    const someRows = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), someRows, someRows, (maxRows, done, canaryRows) => {
        const rows = 40;
        const canary = new Set(canaryRows);
        const open = Array.from({ length: rows }, (_, index) => index + 1).filter(
          (row) => !done.includes(row),
        );
        const allowed = allowedRows(maxRows, open, rows, canary);
        const ofCanary = open.filter((row) => canary.has(row));
        const called = [
          ...ofCanary.filter((row) => row <= allowed.canary),
          ...open.filter((row) => !canary.has(row) && row <= allowed.all),
        ];
        const others = open.filter((row) => !canary.has(row));
        expect(called).toEqual([...ofCanary, ...others].slice(0, maxRows));
      }),
    );
  });
});
