import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callRate } from '../../src/queue/call-rate.ts';

describe('callRate', () => {
  test.each([
    [50, { calls: 5, perMs: 100 }],
    [100, { calls: 10, perMs: 100 }],
    [49.5, { calls: 5, perMs: 102 }],
    [50.5, { calls: 5, perMs: 100 }],
    [15, { calls: 2, perMs: 134 }],
    [14.9, { calls: 1, perMs: 68 }],
    [10, { calls: 1, perMs: 100 }],
    [5, { calls: 1, perMs: 200 }],
    [0.5, { calls: 1, perMs: 2_000 }],
    [1_000 / 3_600, { calls: 1, perMs: 3_600 }],
    [1 / 300, { calls: 1, perMs: 300_000 }],
    [10_006, { calls: 1_000, perMs: 100 }],
    [1_000_000, { calls: 100_000, perMs: 100 }],
  ])('%d calls per second are %o', (perSecond, limit) => {
    expect(callRate(perSecond)).toEqual(limit);
  });

  test('never allows more than was asked for, and less by no more than a part in 68', () => {
    const rates = fc.oneof(
      fc.double({ min: 1 / 3_600, max: 100_000, noNaN: true }),
      fc
        .tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1, 60, 3_600))
        .map(([count, seconds]) => count / seconds),
      // Just too slow for windows of so many milliseconds, which makes them one longer: most is lost there.
      fc
        .tuple(
          fc.integer({ min: 1, max: 1_000 }),
          fc.integer({ min: 67, max: 150 }),
          fc.constantFrom(0, 1e-6, 0.01),
        )
        .map(([calls, perMs, more]) => (calls * 1_000) / (perMs + more)),
    );
    fc.assert(
      fc.property(rates, (perSecond) => {
        const { calls, perMs } = callRate(perSecond);
        const allowed = (calls * 1_000) / perMs;
        expect(allowed).toBeLessThanOrEqual(perSecond * (1 + 1e-9));
        // The shortest window is of just under 67 ms, and each is less than one longer than it should be.
        expect(allowed).toBeGreaterThan((perSecond * 67) / 68);
      }),
    );
  });

  test('has windows of much the same length from 10/s on', () => {
    fc.assert(
      fc.property(fc.double({ min: 10, max: 1_000_000, noNaN: true }), (perSecond) => {
        const { perMs } = callRate(perSecond);
        expect(perMs).toBeGreaterThanOrEqual(67);
        expect(perMs).toBeLessThanOrEqual(134);
      }),
    );
  });

  test('has as many calls in a window when a round rate changes a little', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.double({ min: 0.96, max: 1.04, noNaN: true }),
        (tens, factor) => {
          expect(callRate(10 * tens * factor).calls).toBe(callRate(10 * tens).calls);
        },
      ),
    );
  });

  test('is made of integers from 1', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1_000_000, noNaN: true }), (perSecond) => {
        for (const part of Object.values(callRate(perSecond))) {
          expect(Number.isSafeInteger(part)).toBe(true);
          expect(part).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
