import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '../../../src/sandbox/limits/token-bucket.ts';

const bucket = (rate: number, burst: number): TokenBucket =>
  new TokenBucket({ kind: 'token-bucket', rate, burst });

test('a full bucket admits its burst, then says when the next token comes', () => {
  const limiter = bucket(10, 3);
  expect([0, 0, 0].map((now) => limiter.admit(now).admitted)).toEqual([true, true, true]);
  expect(limiter.admit(0)).toEqual({ admitted: false, retryAfter: 0.1 });
  expect(limiter.admit(75)).toEqual({ admitted: false, retryAfter: expect.closeTo(0.025) });
  expect(limiter.admit(100)).toEqual({ admitted: true });
});

test('tokens of many small steps add up', () => {
  const limiter = bucket(10, 1);
  limiter.admit(0);
  for (let now = 10; now < 100; now += 10) expect(limiter.admit(now).admitted).toBe(false);
  expect(limiter.admit(100).admitted).toBe(true);
});

test('a long rest fills the bucket to its burst and no further', () => {
  const limiter = bucket(1000, 2);
  limiter.admit(0);
  expect([1e9, 1e9, 1e9].map((now) => limiter.admit(now).admitted)).toEqual([true, true, false]);
});

test('never more than burst plus rate times time is admitted, and whoever waits as told is admitted', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(200), { maxLength: 200 }),
      (rate, burst, pauses) => {
        const limiter = bucket(rate, burst);
        let now = 0;
        let admitted = 0;
        for (const pause of pauses) {
          now += pause;
          const admission = limiter.admit(now);
          if (!admission.admitted) {
            now += admission.retryAfter * 1000;
            expect(limiter.admit(now).admitted).toBe(true);
          }
          admitted++;
          expect(admitted).toBeLessThanOrEqual(burst + (now / 1000) * rate + 1e-6);
        }
      },
    ),
  );
});
