import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Comparison } from '../../../../src/engine/rate/governor/comparison.ts';

const beatMs = 100;
const reactionMs = 200;
/** What docs/rate.md says of the lower rate, and the time in which reports of earlier calls arrive. */
const slowestMs = 40_000 + 300 + 2 * reactionMs;

test('a comparison calls at the lower rate for at most 40 s, whatever comes back', () => {
  const beat = fc.record({ calls: fc.nat(12), failedShare: fc.constantFrom(0, 0.1, 0.5, 1) });
  let slowed = 0;
  fc.assert(
    fc.property(fc.array(beat, { minLength: 1, maxLength: 40 }), (beats) => {
      const comparison = new Comparison(undefined, { accepted: 0, ms: 1_000 });
      let slowMs = 0;
      for (let index = 0; index < 2_000; index += 1) {
        const { calls, failedShare } = beats[index % beats.length] ?? { calls: 0, failedShare: 0 };
        const isSlow = comparison.sentPerSecond > 0;
        const verdict = comparison.update(calls, Math.round(calls * failedShare), beatMs, reactionMs);
        if (isSlow) slowMs += beatMs;
        if (verdict !== undefined) {
          if (slowMs > 0) slowed += 1;
          expect(slowMs).toBeLessThanOrEqual(slowestMs + beatMs);
          return;
        }
      }
      expect.unreachable('a comparison ends');
    }),
    { seed: 503, numRuns: 300 },
  );
  expect(slowed).toBeGreaterThan(20);
});
