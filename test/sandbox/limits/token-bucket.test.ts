import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '../../../src/sandbox/limits/token-bucket.ts';
import { fates } from './admissions.ts';

const bucket = (rate: number, burst: number): TokenBucket =>
  new TokenBucket({ kind: 'token-bucket', rate, burst });

test('a full bucket admits its burst, then says when the next token comes and when it is full', () => {
  expect(fates(bucket(10, 3), [0, 0, 0, 0, 75, 100, 350])).toEqual([
    ['in', 2, 100, 100],
    ['in', 1, 100, 200],
    ['in', 0, 100, 300],
    ['out', 0, 100, 300],
    ['out', 0, 25, 225],
    ['in', 0, 100, 300],
    ['in', 1, 50, 150],
  ]);
});

test('the largest part of a token that a burst leaves over does not count as one', () => {
  expect(fates(bucket(1, 2.5), [0, 0, 0])).toEqual([
    ['in', 1, 500, 1000],
    ['in', 0, 500, 2000],
    ['out', 0, 500, 2000],
  ]);
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

test('never more than burst plus rate times time is admitted', () => {
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
          if (limiter.admit(now).admitted) admitted++;
          expect(admitted).toBeLessThanOrEqual(burst + (now / 1000) * rate + 1e-6);
        }
      },
    ),
  );
});
