import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LeakyBucket, TokenBucket } from '../../../src/sandbox/limits/buckets.ts';
import { fates } from './admissions.ts';

const bucket = (rate: number, burst?: number): TokenBucket => new TokenBucket({ rate, burst });

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

test.each([
  [50, 50],
  [2.5, 3],
  [0.5, 1],
])('a rate of %d is a burst of %d by default', (rate, burst) => {
  expect(fates(bucket(rate), [0])[0]?.[1]).toBe(burst - 1);
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

const leaky = (rate: number, queue: number): LeakyBucket => new LeakyBucket({ rate, queue });

/** The delays of requests at the given times; `undefined` for those that are refused. */
function delays(limiter: LeakyBucket, times: readonly number[]): (number | undefined)[] {
  return times.map((now) => {
    const admission = limiter.admit(now);
    return admission.admitted ? admission.delay : undefined;
  });
}

test('requests wait for their turn, and are refused when the queue is full', () => {
  const times = [0, 0, 0, 0, 50, 100, 150, 1000];
  expect(delays(leaky(10, 2), times)).toEqual([0, 100, 200, undefined, undefined, 200, undefined, 0]);
  expect(fates(leaky(10, 2), times)).toEqual([
    ['in', 2, 100, 0],
    ['in', 1, 100, 100],
    ['in', 0, 100, 200],
    ['out', 0, 100, 200],
    ['out', 0, 50, 150],
    ['in', 0, 100, 200],
    ['out', 0, 50, 150],
    ['in', 2, 100, 0],
  ]);
});

test('without a queue, requests are admitted one by one', () => {
  expect(delays(leaky(10, 0), [0, 50, 100, 199, 200])).toEqual([0, undefined, 0, undefined, 0]);
});

test('answers are never closer than the rate, and never more wait than have room', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.nat(20),
      fc.array(fc.nat(100), { minLength: 1, maxLength: 200 }),
      (rate, queue, pauses) => {
        const limiter = leaky(rate, queue);
        const turns: number[] = [];
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          const admission = limiter.admit(now);
          const waiting = (): number => turns.filter((turn) => turn > now + 1e-3).length;
          if (admission.admitted) turns.push(now + (admission.delay ?? 0));
          else expect(waiting()).toBe(queue);
          expect(waiting()).toBeLessThanOrEqual(queue);
          expect(admission.allowance?.remaining).toBe(queue - waiting());
        }
        for (const [index, turn] of turns.slice(1).entries()) {
          expect(turn - (turns[index] ?? 0)).toBeGreaterThanOrEqual(1000 / rate - 1e-6);
        }
      },
    ),
  );
});
