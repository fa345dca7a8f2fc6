import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RateTrim } from '../../src/worker/rate-trim.ts';

const stepMs = 100;

/** What is asked for at the end, and called per second in the last of so many seconds, when a share of it gets lost. */
function reach(
  wanted: number,
  lost: number,
  seconds: number,
): { readonly asked: number; readonly called: number } {
  const trim = new RateTrim(0);
  let asked = wanted;
  for (let now = stepMs; now <= seconds * 1_000; now += stepMs)
    asked = trim.apply(now, (asked * (1 - lost) * stepMs) / 1_000, wanted);
  return { asked, called: asked * (1 - lost) };
}

describe('a rate that loses a little between its windows', () => {
  test.each([0, 0.01, 0.03, 0.045])('is reached though %d of it get lost', (lost) => {
    expect(reach(50, lost, 60).called).toBeCloseTo(50, 0);
    expect(reach(50, lost, 60).called).toBeLessThanOrEqual(50.01);
  });

  test('is left alone when calls are few for another reason', () => {
    expect(reach(50, 0.5, 60).asked).toBe(50);
  });

  test('is never asked for with less than is wanted, nor with more than a twentieth above', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(200), fc.integer({ min: 1, max: 100 })), { maxLength: 200 }),
        (steps) => {
          const trim = new RateTrim(0);
          for (const [index, [sent, wanted]] of steps.entries()) {
            const asked = trim.apply((index + 1) * 250, sent, wanted);
            expect(asked).toBeGreaterThanOrEqual(wanted);
            expect(asked).toBeLessThanOrEqual(wanted * 1.05 + 1e-9);
          }
        },
      ),
    );
  });
});
