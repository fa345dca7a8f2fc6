import { expect, test } from 'vitest';
import { noOutcomes } from '../../../../../src/domain/terms.ts';
import { dayBars, dayText } from '../../../../../src/pages/browser/dashboard/overview/day-bars.ts';
import { endedRun, runData } from '../../../../helpers/run-data.ts';

const now = Date.parse('2026-11-29T20:00:00.000Z');
const hourMs = 3_600_000;
const ago = (hours: number): string => new Date(now - hours * hourMs).toISOString();

/** A run between two times, in hours before now. */
function ranFrom(id: string, from: number, to: number) {
  return endedRun(id, 'completed', ago(to), { startedAt: ago(from) });
}

const lanesOf = (...runs: Parameters<typeof dayBars>[0]) =>
  dayBars(runs, now).map(({ run, lane }) => [run, lane]);

test('a bar begins and ends where its run did, as shares of the last 24 hours', () => {
  expect(dayBars([ranFrom('r', 12, 6)], now)).toEqual([
    { run: 'r', from: 0.5, to: 0.75, lane: 0, kind: 'completed', state: 'completed' },
  ]);
});

test('a run that began earlier is cut, and one that ended earlier or has not started is left out', () => {
  const planned = runData({ id: 'planned', state: 'submitted', startedAt: undefined });
  const bars = dayBars([ranFrom('long', 30, 12), ranFrom('old', 30, 25), planned], now);
  expect(bars).toMatchObject([{ run: 'long', from: 0, to: 0.5 }]);
});

test('a run in progress reaches until now, and a short run can be seen', () => {
  const [going, short] = dayBars([runData({ id: 'r', startedAt: ago(6) }), ranFrom('s', 1, 1)], now);
  expect(going).toMatchObject({ from: 0.75, to: 1, kind: 'running' });
  expect((short?.to ?? 0) - (short?.from ?? 0)).toBeCloseTo(0.004);
  const [justNow] = dayBars([runData({ startedAt: ago(0) })], now);
  expect(justNow).toMatchObject({ from: 0.996, to: 1 });
});

test('runs at the same time are below each other, and a free lane is used again', () => {
  expect(lanesOf(ranFrom('a', 12, 6), ranFrom('b', 11, 10), ranFrom('c', 8, 5))).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 1],
  ]);
});

test('there are six lanes at most', () => {
  const runs = Array.from({ length: 9 }, (_, index) => ranFrom(`r${index}`, 12 - index / 10, 1));
  expect(lanesOf(...runs).map(([, lane]) => lane)).toEqual([0, 1, 2, 3, 4, 5, 5, 5, 5]);
});

test('the strip is told in words, too', () => {
  const counts = { ...noOutcomes(), succeeded: 97, failed: 3 };
  const failed = endedRun('f', 'completed', ago(3), { counts });
  const halted = endedRun('h', 'halted', ago(2));
  const going = runData({ startedAt: ago(1) });
  const bars = dayBars([ranFrom('a', 9, 8), ranFrom('b', 7, 6), failed, halted, going], now);
  expect(dayText(bars)).toBe('5 runs: 2 completed, 1 with failed rows, 1 halted and 1 running');
});
