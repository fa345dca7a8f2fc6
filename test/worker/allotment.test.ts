import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  gatesCanKeep,
  type Keeping,
  shareOf,
  spacingOf,
  withHeadroom,
  withSpare,
} from '../../src/worker/allotment.ts';

describe('the time between two calls', () => {
  test.each<[title: string, rate: number | undefined, keeping: Keeping, milliseconds: number]>([
    ['what the rate asks for, when the gate keeps it', 10, { workers: 1, gatesKeep: true }, 100],
    ['a little less, when the queue keeps it', 10, { workers: 1, gatesKeep: false }, 97],
    ['what each gate has of it, when several keep it', 10, { workers: 4, gatesKeep: true }, 400],
    ['for chance to give one of two more calls than the other', 10, { workers: 2, gatesKeep: false }, 70],
    ['longer for each of several', 10, { workers: 4, gatesKeep: false }, 140],
    ['no longer than for one a second', 1 / 300, { workers: 1, gatesKeep: false }, 970],
    ['of several no longer than for one a second, either', 1 / 300, { workers: 4, gatesKeep: false }, 1_400],
    ['short at the highest rate whose calls are spread', 500, { workers: 1, gatesKeep: true }, 2],
    ['nothing at a higher one: timers are too coarse', 501, { workers: 1, gatesKeep: false }, 0],
    ['nothing without a limit', undefined, { workers: 3, gatesKeep: true }, 0],
  ])('is %s', (_title, rate, keeping, milliseconds) => {
    expect(spacingOf(rate, keeping)).toBeCloseTo(milliseconds, 9);
  });

  test('lets all workers together reach a rate that the queue keeps, with something to spare', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1, max: 500, noNaN: true }),
        fc.integer({ min: 1, max: 100 }),
        (rate, workers) => {
          const spacing = spacingOf(rate, { workers, gatesKeep: false });
          expect((workers * 1_000) / spacing).toBeGreaterThan(rate * 1.03);
        },
      ),
    );
  });
});

describe('gates', () => {
  test.each([
    ['keep a rate of one worker', 50, 1, true],
    ['keep one of several', 50, 3, true],
    ['keep none above what timers can spread', 501, 1, false],
    ['keep a faster one the more they are', 1_500, 3, true],
    ['keep none so slow that a call would wait long for its turn', 2, 3, false],
  ])('%s', (_title, rate, workers, can) => {
    expect(gatesCanKeep(rate, workers)).toBe(can);
  });

  test('get a little more from the queue than the rate', () => {
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
