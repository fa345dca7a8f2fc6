import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { steadyNow, steadyTimeOf, timeOfDay, watchClock } from '../../../src/base/async/clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const jumps = [-3_600_000, -30_000, 3_600_000];

test.each(jumps)(
  'the steady clock keeps its pace, and gives times of the present clock, after that is set by %d ms',
  (byMs) => {
    const before = steadyNow();
    const soon = before + 5_000;
    const atSoon = Date.now() + 5_000;
    expect(timeOfDay(soon).getTime()).toBe(atSoon);
    vi.advanceTimersByTime(1_000);
    vi.setSystemTime(Date.now() + byMs);
    vi.advanceTimersByTime(1_000);
    expect(steadyNow() - before).toBe(2_000);
    expect(timeOfDay(soon).getTime()).toBe(atSoon + byMs);
    expect(steadyTimeOf(atSoon + byMs)).toBe(soon);
  },
);

describe('a watch of the clock', () => {
  test('reports each time when it is set, and by how much', () => {
    const heard: number[] = [];
    const watch = watchClock((byMs) => heard.push(byMs));
    for (const byMs of jumps) {
      vi.advanceTimersByTime(10_000);
      vi.setSystemTime(Date.now() + byMs);
      vi.advanceTimersByTime(200);
    }
    expect(heard).toEqual(jumps);
    watch.close();
    vi.setSystemTime(0);
    vi.advanceTimersByTime(1_000);
    expect(heard).toEqual(jumps);
  });

  test('does not report small corrections', () => {
    const heard: number[] = [];
    const watch = watchClock((byMs) => heard.push(byMs));
    for (let count = 0; count < 100; count += 1) {
      vi.setSystemTime(Date.now() - 400);
      vi.advanceTimersByTime(100);
    }
    expect(heard).toEqual([]);
    watch.close();
  });
});
