import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  concurrency,
  type Limiter,
  leakyBucket,
  slidingWindow,
  tokenBucket,
} from '../../../src/sandbox/limits/limiters.ts';
import { parseLimitPlan } from '../../../src/sandbox/limits/plan.ts';

/** Whether each request is admitted, how many more are, and when there will be one more and all: milliseconds. */
test.each<[limit: string, times: readonly number[], fates: readonly (readonly [string, ...number[]])[]]>([
  [
    'token-bucket:rate=1,burst=2.5',
    [0, 0, 0],
    [
      ['in', 1, 500, 1000],
      ['in', 0, 500, 2000],
      ['out', 0, 500, 2000],
    ],
  ],
  [
    'fixed-window:limit=1,window=1s,align=first',
    [1500, 2499, 2500],
    [
      ['in', 0, 1000, 1000],
      ['out', 0, 1, 1],
      ['in', 0, 1000, 1000],
    ],
  ],
  [
    'sliding-window:limit=2,window=1s',
    [0, 400, 999, 1000],
    [
      ['in', 1, 1000, 1000],
      ['in', 0, 600, 1000],
      ['out', 0, 1, 401],
      ['in', 0, 400, 1000],
    ],
  ],
])('%s at %j', (limit, times, fates) => {
  const limiter = parseLimitPlan('--limit', limit);
  const found = times.map((now) => {
    const { isAdmitted, allowance } = limiter.admit(now, 'token');
    return [isAdmitted ? 'in' : 'out', allowance?.remaining, allowance?.moreAfter, allowance?.wholeAfter];
  });
  expect(found).toEqual(fates);
});

const bucket = (rate: number, burst?: number): Limiter => tokenBucket({ rate, burst });

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
          if (limiter.admit(now, 'token').isAdmitted) admitted++;
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
          if (admission.isAdmitted) turns.push(now + (admission.delay ?? 0));
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

const sliding = (limit: number, window: number): Limiter => slidingWindow({ limit, window });

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
          expect(limiter.admit(now, 'token').isAdmitted).toBe(inWindow < limit);
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
            expect(admission.isAdmitted).toBe(inFlight.length < limit);
            if (admission.isAdmitted && admission.release) inFlight.push(admission.release);
            expect(admission.allowance?.remaining).toBe(limit - inFlight.length);
          } else {
            released?.();
            [released] = inFlight.splice(event % Math.max(1, inFlight.length), 1);
            released?.();
          }
        }
        for (const release of inFlight) release();
        const whole = Array.from({ length: limit }, () => limiter.admit(0, 'token').isAdmitted);
        expect(whole).not.toContain(false);
        expect(limiter.admit(0, 'token').isAdmitted).toBe(false);
      },
    ),
  );
});
