import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Comparison } from '../../../../src/engine/rate/governor/comparison.ts';

const beatMs = 100;
const reactionMs = 200;
/** What docs/rate.md says of the lower rate, and the time in which reports of earlier calls arrive. */
const slowestMs = 40_000 + 300 + 2 * reactionMs;

/** For some beats, a call in each `every` of them, with this share of failures. */
const phase = fc.record({
  beats: fc.nat(250),
  every: fc.integer({ min: 1, max: 60 }),
  share: fc.constantFrom(0, 0.5, 1),
});

/** For how long a comparison calls at the lower rate, after some calls of which half failed. */
function slowMsOf(phases: readonly { beats: number; every: number; share: number }[]): number {
  const comparison = new Comparison(undefined, { accepted: 0, ms: 1_000 });
  for (let beat = 0; comparison.sentPerSecond === 0; beat += 1) {
    expect(beat).toBeLessThan(100);
    expect(comparison.update(4, 2, beatMs, reactionMs)).toBeUndefined();
  }
  let slowMs = 0;
  let failures = 0;
  for (const { beats, every, share } of [...phases, { beats: 1_000, every: 1, share: 0 }])
    for (let beat = 0; beat < beats; beat += 1) {
      const calls = beat % every === 0 ? 1 : 0;
      failures += calls * share;
      const failed = Math.floor(failures);
      failures -= failed;
      slowMs += beatMs;
      if (comparison.update(calls, failed, beatMs, reactionMs) !== undefined) return slowMs;
    }
  return expect.unreachable('a comparison ends');
}

test('a comparison calls at the lower rate for at most 40 s, whatever comes back', () => {
  let longest = 0;
  fc.assert(
    fc.property(fc.array(phase, { maxLength: 4 }), (phases) => {
      const slowMs = slowMsOf(phases);
      longest = Math.max(longest, slowMs);
      expect(slowMs).toBeLessThanOrEqual(slowestMs + beatMs);
    }),
    { seed: 503, numRuns: 2_000 },
  );
  expect(longest).toBeGreaterThan(35_000);
});
