import { describe, expect, test } from 'vitest';
import type { Pace } from '../../../../src/domain/pace.ts';
import { noOutcomes } from '../../../../src/domain/terms.ts';
import { Progress } from '../../../../src/engine/run/work/progress.ts';
import { resultOf } from '../../journal/arbitraries.ts';

const pace: Pace = {
  isKept: false,
  concurrency: 50,
  phase: 'fixed',
  refuses503: false,
  reason: 'no limit requested',
};

const none = noOutcomes();

/** A run that finishes this many rows per second for this many seconds. */
function steadyRun(rowsPerSecond: number, seconds: number, rows: number) {
  let now = 0;
  const progress = new Progress({ timeoutMs: 60_000, rows, counts: none, now: () => now });
  for (let row = 1; row <= rowsPerSecond * seconds; row += 1) {
    now = (row * 1_000) / rowsPerSecond;
    progress.see({ type: 'finished', result: resultOf(row) });
  }
  return { progress, sleep: (ms: number) => (now += ms) };
}

describe('Progress', () => {
  test.each([1, 7, 50, 640])('measures %d rows per second', (rate) => {
    const { progress } = steadyRun(rate, 30, rate * 60);
    expect(progress.snapshot().rowsPerSecond).toBeCloseTo(rate, 0);
  });

  test.each([1, 10, 250])(
    'measures no more than %d rows per second when results arrive a second of work at a time',
    (rate) => {
      let now = 0;
      const progress = new Progress({ timeoutMs: 60_000, rows: rate * 60, counts: none, now: () => now });
      for (let second = 1; second <= 30; second += 1) {
        now = second * 1_000;
        for (let row = 1; row <= rate; row += 1) progress.see({ type: 'finished', result: resultOf(row) });
        expect(progress.snapshot().rowsPerSecond).toBe(rate);
      }
    },
  );

  test('reports no progress while rows stand still', () => {
    const { progress, sleep } = steadyRun(10, 5, 100);
    sleep(60_000);
    expect(progress.snapshot()).toMatchObject({ rowsPerSecond: 0 });
  });

  test('reports calls in flight once nothing has finished for five seconds', () => {
    const { progress, sleep } = steadyRun(10, 5, 100);
    const inFlight = (oldestMs: number) => {
      progress.seePace(pace, { calls: 2, oldestMs });
      return progress.snapshot().stalled;
    };
    // The call is older than that, but others finish.
    expect(inFlight(30_000)).toBeUndefined();
    sleep(4_999);
    expect(inFlight(34_999)).toBeUndefined();
    sleep(1);
    expect(inFlight(35_000)).toEqual({ calls: 2, oldestMs: 35_000, timeoutMs: 60_000 });
    sleep(1_000);
    expect(progress.snapshot().stalled).toMatchObject({ oldestMs: 36_000 });
    // Answers arrive, though they finish no row.
    expect(inFlight(200)).toBeUndefined();
    progress.seePace(pace);
    expect(progress.snapshot().stalled).toBeUndefined();
    progress.seePace(pace, { calls: 1, oldestMs: 50_000 });
    progress.see({ type: 'finished', result: resultOf(51) });
    expect(progress.snapshot().stalled).toBeUndefined();
  });

  /** What is news when this many workers are seen each second; undefined: the run is paused, without workers. */
  function newsOf(...workers: readonly (number | undefined)[]): readonly string[] {
    let now = 0;
    const progress = new Progress({ timeoutMs: 60_000, rows: 10, counts: none, now: () => now });
    return workers.flatMap((seen, second) => {
      now = second * 1_000;
      progress.see({ type: 'paused', paused: seen === undefined, attribution: {} });
      return progress.seeWorkers(seen ?? 0) ?? [];
    });
  }

  test.each<[what: string, workers: readonly (number | undefined)[], news: readonly string[]]>([
    ['a run without a worker for five seconds is unserved, once', [0, 0, 0, 0, 0, 0, 0, 0], ['unserved']],
    ['a worker that is away for a moment is no news', [1, 0, 0, 0, 0, 1], []],
    ['a worker that comes is news where rows waited', [0, 0, 0, 0, 0, 0, 1, 1], ['unserved', 'served']],
    ['a paused run waits for no worker', Array.from({ length: 9 }, () => undefined), []],
    ['a pause brings no worker', [0, 0, 0, 0, 0, 0, undefined, undefined], ['unserved']],
    ['a run that goes on has just started to wait', [0, 0, 0, undefined, 0, 0, 0, 0], []],
  ])('%s', (_what, workers, news) => {
    expect(newsOf(...workers)).toEqual(news);
  });
});
