import { expect, test } from 'vitest';
import { type RatePoint, recentCurve, recentRowRate } from '../../../src/engine/report/rate-history.ts';

const seenAt = '2026-01-01T00:10:00.000Z';
const now = Date.parse(seenAt) + 2_000;

/** Points of a second each, with this many rows. */
function series(rows: readonly number[], more: (second: number) => Partial<RatePoint> = () => ({})) {
  return rows.map((rows_per_s, second): RatePoint => {
    const point = { t_s: second + 1, allowed_per_s: 50, accepted_per_s: 50, rejected: 0 };
    return { ...point, ...(rows_per_s > 0 && { rows_per_s }), ...more(second) };
  });
}

const seconds = (count: number, rows: number): readonly number[] => Array.from({ length: count }, () => rows);

test.each<[what: string, points: readonly RatePoint[], rate: number | undefined]>([
  [
    'the last half minute, however fast the run was before',
    series([...seconds(90, 40), ...seconds(30, 8)]),
    8,
  ],
  ['a part of each', series([...seconds(90, 40), ...seconds(15, 8)]), 24],
  ['nothing while no row finishes', series(seconds(60, 0)), 0],
  [
    'no seconds in which no call was possible',
    series([...seconds(20, 0), ...seconds(10, 9)], (second) => (second < 20 ? { waited_s: 1 } : {})),
    9,
  ],
  ['some seconds at least', series(seconds(2, 8)), undefined],
  ['nothing without a point', [], undefined],
])('the recent rate of rows counts %s', (_what, points, rate) => {
  expect(recentRowRate({ series: [...points], seen_at: seenAt }, now)).toBe(rate);
});

test('the recent rate is unknown once its process no longer writes', () => {
  const history = { series: series(seconds(30, 8)), seen_at: seenAt };
  expect(recentRowRate(history, now + 60_000)).toBeUndefined();
});

test('the curve has the last two minutes of work', () => {
  const curve = recentCurve({ series: series([...seconds(30, 1), ...seconds(119, 2), 0]) });
  expect(curve).toEqual([...seconds(119, 2), 0]);
});
