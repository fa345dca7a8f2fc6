import { describe, expect, test } from 'vitest';
import type { RatePoint } from '../../../../src/engine/report/rate-history.ts';
import { bandsOf, bandWords, timedRates } from '../../../../src/pages/browser/chart/run-times.ts';

const start = Date.parse('2026-01-01T00:00:00Z') / 1_000;

const at = (seconds: number): string => new Date((start + seconds) * 1_000).toISOString();

function point(t_s: number, changes: Partial<RatePoint> = {}): RatePoint {
  return { t_s, allowed_per_s: 50, accepted_per_s: 40, rejected: 0, ...changes };
}

/** The measurements in seconds since the start. */
function timesOf(rate: readonly RatePoint[], starts: { readonly t_s: number; readonly at: string }[]) {
  return timedRates(rate, starts).map(({ from, to }) => [from - start, to - start]);
}

describe('the times of day of a rate', () => {
  const rate = [point(1), point(2), point(3)];

  test('follow from the start of the run', () => {
    expect(timesOf(rate, [{ t_s: 0, at: at(5) }])).toEqual([
      [5, 6],
      [6, 7],
      [7, 8],
    ]);
  });

  test('leave out the time in which the run was stopped', () => {
    const starts = [
      { t_s: 0, at: at(0) },
      { t_s: 2, at: at(3_600) },
    ];
    expect(timesOf(rate, starts)).toEqual([
      [0, 1],
      [1, 2],
      [3_600, 3_601],
    ]);
  });

  test('never go back when a clock is set back', () => {
    const starts = [
      { t_s: 0, at: at(0) },
      { t_s: 1, at: at(-3_600) },
    ];
    expect(timesOf(rate, starts)).toEqual([
      [0, 1],
      [1, 1],
      [1, 1],
    ]);
  });
});

describe('the times that are shaded', () => {
  const told = 'the API asks to wait';
  const timed = (points: readonly RatePoint[]) =>
    points.map((each, index) => ({ from: points[index - 1]?.t_s ?? 0, to: each.t_s, point: each }));

  test('join the seconds of a wait; another reason is another wait', () => {
    const points = [
      point(1),
      ...[2, 3, 4].map((t_s) => point(t_s, { waited_s: 1, reason: told })),
      point(5, { waited_s: 1, reason: 'every call is rejected' }),
      point(6),
    ];
    expect(bandsOf(timed(points), [])).toEqual([
      { from: 1, to: 4, reason: told, kind: 'wait' },
      { from: 4, to: 5, reason: 'every call is rejected', kind: 'wait' },
    ]);
  });

  test('include the stops of the run, with their reasons', () => {
    const stops = [
      { from: at(100), to: at(160), state: 'paused', reason: 'maintenance' },
      { from: at(200), to: at(201), state: 'interrupted' },
    ];
    const bands = bandsOf([], stops);
    expect(bands.map(({ from, to, reason, kind }) => [from - start, to - start, reason, kind])).toEqual([
      [100, 160, 'the run was paused: maintenance', 'stop'],
      [200, 201, 'the run was interrupted', 'stop'],
    ]);
    expect(bandWords(bands)).toBe('the run was paused: maintenance (1 min); the run was interrupted (1 s)');
  });
});
