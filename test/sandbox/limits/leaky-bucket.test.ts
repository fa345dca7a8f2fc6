import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LeakyBucket } from '../../../src/sandbox/limits/leaky-bucket.ts';
import { fates } from './admissions.ts';

const leaky = (rate: number, queue: number): LeakyBucket =>
  new LeakyBucket({ kind: 'leaky-bucket', rate, queue });

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
