import { expect, test } from 'vitest';
import { FixedWindow, type WindowAlignment } from '../../../src/sandbox/limits/fixed-window.ts';
import { fates } from './admissions.ts';

const windows = (limit: number, window: number, align: WindowAlignment): FixedWindow =>
  new FixedWindow({ kind: 'fixed-window', limit, window, align });

test('windows of the clock begin at the multiples of their length', () => {
  const minute = Date.parse('2026-01-05T09:30:00Z');
  const times = [59_000, 59_999.5, 59_999.75, 60_000, 119_999, 119_999, 200_000].map((ms) => minute + ms);
  expect(fates(windows(2, 60_000, 'clock'), times)).toEqual([
    ['in', 1, 1000, 1000],
    ['in', 0, 0.5, 0.5],
    ['out', 0, 0.25, 0.25],
    ['in', 1, 60_000, 60_000],
    ['in', 0, 1, 1],
    ['out', 0, 1, 1],
    ['in', 1, 40_000, 40_000],
  ]);
});

test('windows of the first request begin with it, and the next with the first one after', () => {
  expect(fates(windows(2, 1000, 'first'), [1500, 1600, 2499, 2500, 5200, 5300, 5400])).toEqual([
    ['in', 1, 1000, 1000],
    ['in', 0, 900, 900],
    ['out', 0, 1, 1],
    ['in', 1, 1000, 1000],
    ['in', 1, 1000, 1000],
    ['in', 0, 900, 900],
    ['out', 0, 800, 800],
  ]);
});
