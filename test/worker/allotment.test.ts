import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Callers,
  gateKeeps,
  shareOf,
  spacingOf,
  withHeadroom,
  withSpare,
} from '../../src/worker/allotment.ts';

describe('the time between two calls', () => {
  test.each<[title: string, rate: number | undefined, callers: Callers, milliseconds: number]>([
    ['what the rate asks for, when the gate keeps it', 10, { workers: 1, governed: true }, 100],
    ['a little less, when the queue keeps it', 10, { workers: 1, governed: false }, 97],
    ['for chance to give one of two more calls than the other', 10, { workers: 2, governed: true }, 70],
    ['longer for each of several', 10, { workers: 4, governed: true }, 140],
    ['no longer than for one a second', 1 / 300, { workers: 1, governed: true }, 970],
    ['of several no longer than for one a second, either', 1 / 300, { workers: 4, governed: true }, 1_400],
    ['short at the highest rate whose calls are spread', 500, { workers: 1, governed: true }, 2],
    ['nothing at a higher one: timers are too coarse', 501, { workers: 1, governed: true }, 0],
    ['nothing without a limit', undefined, { workers: 3, governed: true }, 0],
  ])('is %s', (_title, rate, callers, milliseconds) => {
    expect(spacingOf(rate, callers)).toBeCloseTo(milliseconds, 9);
  });

  test('lets all workers together reach a rate that the queue keeps, with something to spare', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 500, noNaN: true }),
        fc.integer({ min: 1, max: 100 }),
        (rate, workers) => {
          const spacing = spacingOf(rate, { workers, governed: workers > 1 });
          expect((workers * 1_000) / spacing).toBeGreaterThan(rate * 1.03);
        },
      ),
    );
  });
});

describe('the gate keeps a rate', () => {
  test.each<[title: string, rate: number, callers: Callers, keeps: boolean]>([
    ['that a governor has found for one worker', 50, { workers: 1, governed: true }, true],
    ['never for several, which know only their own calls', 50, { workers: 2, governed: true }, false],
    ['never of the user, who must not depend on it', 50, { workers: 1, governed: false }, false],
    ['never above what timers can spread', 501, { workers: 1, governed: true }, false],
    ['never so slow that its calls are not spread', 0.5, { workers: 1, governed: true }, false],
  ])('%s', (_title, rate, callers, keeps) => {
    expect(gateKeeps(rate, callers)).toBe(keeps);
  });

  test('of which the queue lets out a little more', () => {
    expect(withHeadroom(100)).toBeCloseTo(105);
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
