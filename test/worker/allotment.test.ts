import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shareOf, spacingOf, withSpare } from '../../src/worker/allotment.ts';

describe('the time between two calls', () => {
  test.each([
    ['a little less than the rate asks for, when there is one worker', 10, 1, 97],
    ['for chance to give one of two more calls than the other', 10, 2, 70],
    ['longer for each of several', 10, 4, 140],
    ['no longer than for one a second', 1 / 300, 1, 970],
    ['of several no longer than for one a second, either', 1 / 300, 4, 1_400],
    ['short at the highest rate whose calls are spread', 500, 1, 1.94],
    ['nothing at a higher one: timers are too coarse', 501, 1, 0],
    ['nothing without a limit', undefined, 3, 0],
  ])('is %s', (_title, rate, workers, milliseconds) => {
    expect(spacingOf(rate, workers)).toBeCloseTo(milliseconds, 9);
  });

  test('lets all workers together reach the rate, with something to spare', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 500, noNaN: true }),
        fc.integer({ min: 1, max: 100 }),
        (rate, workers) => {
          expect((workers * 1_000) / spacingOf(rate, workers)).toBeGreaterThan(rate * 1.03);
        },
      ),
    );
  });
});

describe('the calls in flight of one worker', () => {
  test.each([
    [20, 1, 0, 20],
    [20, 3, 0, 7],
    [20, 3, 1, 7],
    [20, 3, 2, 6],
    [3, 3, 2, 1],
    [2, 3, 1, 1],
    [2, 3, 2, 1],
  ])('when %d are allowed to %d workers: at place %d it is %d', (concurrency, workers, place, share) => {
    expect(shareOf(concurrency, workers, place)).toBe(share);
  });

  test('are one at least, and come to what is allowed when that is enough for all', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 1, max: 100 }),
        (concurrency, workers) => {
          const shares = Array.from({ length: workers }, (_, place) => shareOf(concurrency, workers, place));
          const together = shares.reduce((sum, share) => sum + share, 0);
          expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
          expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
          expect(together).toBe(Math.max(concurrency, workers));
        },
      ),
    );
  });
});

test.each([
  [1, 3],
  [10, 12],
  [20, 22],
  [21, 24],
  [50, 55],
  [200, 220],
])('for %d calls in flight, %d rows are claimed', (concurrency, rows) => {
  expect(withSpare(concurrency)).toBe(rows);
});
