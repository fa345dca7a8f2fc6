import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  concurrency,
  fixedWindow,
  type Limiter,
  leakyBucket,
  slidingWindow,
  tokenBucket,
} from '../../../src/sandbox/limits/limiters.ts';
import { fates } from './admissions.ts';

const bucket = (rate: number, burst?: number): Limiter => tokenBucket({ rate, burst });

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

test('the largest part of a token that remains of a burst does not count as one', () => {
  expect(fates(bucket(1, 2.5), [0, 0, 0])).toEqual([
    ['in', 1, 500, 1000],
    ['in', 0, 500, 2000],
    ['out', 0, 500, 2000],
  ]);
});

test('at most burst plus rate times time is admitted', () => {
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
          if (limiter.admit(now, 'token').admitted) admitted++;
          expect(admitted).toBeLessThanOrEqual(burst + (now / 1000) * rate + 1e-6);
        }
      },
    ),
  );
});

const leaky = (rate: number, queue: number): Limiter => leakyBucket({ rate, queue });

test('answers are never closer than the rate, and no more requests wait than there is room for', () => {
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
          const admission = limiter.admit(now, 'token');
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

const windows = (limit: number, window: number, align: 'clock' | 'first'): Limiter =>
  fixedWindow({ limit, window, align });

test('windows of the first request begin with it, and the next with the first request after that', () => {
  expect(fates(windows(2, 1000, 'first'), [1500, 1600, 2499, 2500, 5200, 5300, 5400])).toEqual([
    ['in', 1, 1000, 1000],
    ['in', 0, 900, 900],
    ['out', 0, 1, 1],
    ['in', 1, 1000, 1000],
    ['in', 1, 1000, 1000],
    ['in', 0, 900, 900],
    ['out', 0, 800, 800],
  ]);
});

const sliding = (limit: number, window: number): Limiter => slidingWindow({ limit, window });

test('each admission counts for exactly the window, refusals never', () => {
  expect(fates(sliding(2, 1000), [0, 400, 999, 1000])).toEqual([
    ['in', 1, 1000, 1000],
    ['in', 0, 600, 1000],
    ['out', 0, 1, 401],
    ['in', 0, 400, 1000],
  ]);
});

test('no span of the length of the window has more admissions than the limit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 500 }),
      fc.array(fc.nat(100), { minLength: 1, maxLength: 300 }),
      (limit, window, pauses) => {
        const limiter = sliding(limit, window);
        const admitted: number[] = [];
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          const inWindow = admitted.filter((time) => time > now - window).length;
          expect(limiter.admit(now, 'token').admitted).toBe(inWindow < limit);
          if (inWindow < limit) admitted.push(now);
        }
      },
    ),
  );
});

test('at most the limit is in flight, every release makes room for one request, and only the first release counts', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      // A number releases one of those in flight; the releases of others are sometimes called once more.
      fc.array(fc.oneof(fc.constant('arrives' as const), fc.nat(10)), { maxLength: 200 }),
      (limit, events) => {
        const limiter = concurrency({ limit });
        const inFlight: (() => void)[] = [];
        let released: (() => void) | undefined;
        for (const event of events) {
          if (event === 'arrives') {
            const admission = limiter.admit(0, 'token');
            expect(admission.admitted).toBe(inFlight.length < limit);
            if (admission.admitted && admission.release) inFlight.push(admission.release);
            expect(admission.allowance?.remaining).toBe(limit - inFlight.length);
          } else {
            released?.();
            [released] = inFlight.splice(event % Math.max(1, inFlight.length), 1);
            released?.();
          }
        }
        for (const release of inFlight) release();
        const whole = Array.from({ length: limit }, () => limiter.admit(0, 'token').admitted);
        expect(whole).not.toContain(false);
        expect(limiter.admit(0, 'token').admitted).toBe(false);
      },
    ),
  );
});
