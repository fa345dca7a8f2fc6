import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callRate } from '../../src/queue/call-rate.ts';

describe('callRate', () => {
  test.each([
    [50, { calls: 5, perMs: 100 }],
    [100, { calls: 10, perMs: 100 }],
    [15, { calls: 1, perMs: 67 }],
    [10, { calls: 1, perMs: 100 }],
    [5, { calls: 1, perMs: 200 }],
    [0.5, { calls: 1, perMs: 2_000 }],
    [1_000 / 3_600, { calls: 1, perMs: 3_600 }],
    [1 / 300, { calls: 1, perMs: 300_000 }],
    [1_000_000, { calls: 100_000, perMs: 100 }],
  ])('%d calls per second are %o', (perSecond, limit) => {
    expect(callRate(perSecond)).toEqual(limit);
  });

  test('never allows more than was asked for, and not much less from 10/s on', () => {
    const rates = fc.oneof(
      fc.double({ min: 1 / 3_600, max: 100_000, noNaN: true }),
      fc
        .tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(1, 60, 3_600))
        .map(([count, seconds]) => count / seconds),
    );
    fc.assert(
      fc.property(rates, (perSecond) => {
        const { calls, perMs } = callRate(perSecond);
        const allowed = (calls * 1_000) / perMs;
        expect(allowed).toBeLessThanOrEqual(perSecond * (1 + 1e-9));
        if (perSecond >= 10) expect(allowed).toBeGreaterThan(perSecond * 0.98);
      }),
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
