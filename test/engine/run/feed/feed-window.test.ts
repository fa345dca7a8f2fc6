import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FeedWindow, type FeedWindowOptions } from '../../../../src/engine/run/feed/feed-window.ts';

function steadyWindow(options: FeedWindowOptions, rowsPerSecond: number): FeedWindow {
  let now = 0;
  const window = new FeedWindow({ ...options, now: () => now });
  window.countFed(1_000_000, 0);
  for (let row = 0; row < rowsPerSecond * 30; row += 1) {
    now += 1_000 / rowsPerSecond;
    window.countFinished();
  }
  return window;
}

describe('FeedWindow', () => {
  test.each([
    ['enough for several machines', { concurrency: 50 }, 500],
    ['twice the concurrency where that is more', { concurrency: 400 }, 800],
    ['no more than ten seconds at a fixed rate', { concurrency: 50, ratePerSecond: () => 20 }, 200],
  ])('begins with %s', (_title, options, expected) => {
    expect(new FeedWindow(options).limit).toBe(expected);
  });

  test('does not count known finished rows as unfinished', () => {
    const window = new FeedWindow({ concurrency: 1, now: () => 0 });
    window.countFed(600, 0);
    for (let row = 0; row < 200; row += 1) window.countFinished();
    window.observeOpenRows(600);
    // 500 may be open.
    let fed = 0;
    for (; window.hasRoom; fed += 1) window.countFed(1, 0);
    expect(fed).toBe(100);
  });

  test('feeds no faster than the user allows, even if workers call faster', () => {
    let now = 0;
    const window = new FeedWindow({ concurrency: 50, ratePerSecond: () => 5, now: () => now });
    const fedAndCalled = (): number => {
      let fed = 0;
      for (; window.hasRoom; fed += 1) window.countFed(1, 0);
      window.countCollected(fed, 0);
      return fed;
    };
    const bySecond = [0, 1, 2, 3].map((second) => {
      now = second * 1_000;
      return fedAndCalled();
    });
    expect(bySecond).toEqual([50, 5, 5, 5]);
  });

  test.each([
    ['four seconds of work', { concurrency: 50 }, 500, 2_000],
    ['a bound, however fast the API', { concurrency: 50 }, 10_000, 5_000],
    ['no more than ten seconds at a fixed rate', { concurrency: 50, ratePerSecond: () => 2 }, 2, 20],
  ])('holds %s', (_title, options, rowsPerSecond, expected) => {
    const { limit } = steadyWindow(options, rowsPerSecond);
    expect(limit).toBeGreaterThan(expected * 0.95);
    expect(limit).toBeLessThan(expected * 1.05 + 1);
  });

  test.each<[string, Partial<FeedWindowOptions>, number, number]>([
    ['a second of work', {}, 100, 100],
    ['no more than 250 rows', {}, 2_000, 250],
    ['a second of work where no worker calls yet', { workers: () => 0 }, 100, 100],
    // Of a million rows, all but 3,000 are fed.
    [
      'two parts for each worker near the end',
      { workers: () => 2, unfinishedRows: () => 997_200 },
      2_000,
      50,
    ],
    ['no tiny batches at the end', { unfinishedRows: () => 997_005 }, 2_000, 10],
  ])('makes batches of %s', (_title, options, rowsPerSecond, expected) => {
    const window = steadyWindow({ concurrency: 1, ...options }, rowsPerSecond);
    window.countCollected(3_000, 0);
    expect(Math.abs(window.nextBatch.rows - expected)).toBeLessThanOrEqual(1);
  });

  test('stops feeding while too many finished rows wait for other rows of their batches', () => {
    const window = new FeedWindow({ concurrency: 1, now: () => 0 });
    let fed = 0;
    while (window.hasRoom && fed < 10_000) {
      window.countFed(1, 0);
      window.countFinished();
      fed += 1;
    }
    expect(fed).toBeLessThan(5_000);
  });

  test('stops feeding at 32 MB of request bodies', () => {
    const window = new FeedWindow({ concurrency: 1_000 });
    window.countFed(1, 32 * 1024 * 1024);
    expect(window.hasRoom).toBe(false);
  });

  test('is empty exactly when everything fed was collected, whatever workers reported', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 50 }))),
        (batches) => {
          const window = new FeedWindow({ concurrency: 4 });
          for (const [rows] of batches) window.countFed(rows, rows);
          for (const [rows, told] of batches) {
            expect(window.isEmpty).toBe(false);
            for (let i = 0; i < Math.min(told, rows); i += 1) window.countFinished();
            window.countCollected(rows, rows);
          }
          expect(window.isEmpty).toBe(true);
          expect(window.hasRoom).toBe(true);
        },
      ),
    );
  });
});
