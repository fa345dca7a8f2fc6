import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatencyHistogram } from '../../../src/engine/report/latency.ts';

function histogramOf(durations: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const duration of durations) histogram.add(duration);
  return histogram;
}

test('percentiles are exact below 255 ms, at most 0.8 % too high above, and never above the maximum', () => {
  const anyDuration = fc.oneof(fc.nat(254), fc.nat(5_000), fc.nat(2 ** 32 - 1));
  fc.assert(
    fc.property(fc.array(anyDuration, { minLength: 1 }), (durations) => {
      const sorted = durations.toSorted((a, b) => a - b);
      const summary = histogramOf(durations).summary();
      expect(summary?.max).toBe(sorted.at(-1));
      for (const [share, found = -1] of [
        [0.5, summary?.p50],
        [0.9, summary?.p90],
        [0.99, summary?.p99],
      ] as const) {
        const truth = sorted[Math.ceil(durations.length * share) - 1] ?? -1;
        if (truth < 255) expect(found).toBe(truth);
        expect(found).toBeGreaterThanOrEqual(truth);
        expect(found).toBeLessThanOrEqual(Math.min(truth * (1 + 1 / 128), sorted.at(-1) ?? 0));
      }
    }),
  );
});
