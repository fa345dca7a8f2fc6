import { expect, test } from 'vitest';
import { Trend } from '../../../src/page/dashboard/trend.ts';

/** A line of what a run has done every two seconds. */
function pointsOf(...done: readonly number[]): string | undefined {
  const trend = new Trend();
  for (const [index, rows] of done.entries()) trend.add(2_000 * index, rows);
  return trend.points;
}

test('a run that was seen for a short time, or that does nothing, has no line', () => {
  expect(pointsOf(0, 100, 200)).toBeUndefined();
  expect(pointsOf(5, 5, 5, 5, 5)).toBeUndefined();
});

test('the line ends on the right, and its highest point is the highest rate', () => {
  expect(pointsOf(0, 100, 300, 300)).toBe('154.6,16.0 157.3,1.0 160.0,31.0');
});

test('a falling count is not a negative rate', () => {
  expect(pointsOf(0, 100, 50, 150)).toBe('154.6,1.0 157.3,31.0 160.0,1.0');
});

test('looks within two seconds count as one', () => {
  const trend = new Trend();
  for (const at of [0, 500, 2_000, 2_100, 4_000, 5_900, 6_000]) trend.add(at, at / 10);
  expect(trend.points).toBe('154.6,1.0 157.3,1.0 160.0,1.0');
});

test('the oldest rates leave the line', () => {
  const points = pointsOf(...Array.from({ length: 100 }, (_, index) => index))?.split(' ') ?? [];
  expect([points.length, points[0], points.at(-1)]).toEqual([60, '0.0,1.0', '160.0,1.0']);
});
