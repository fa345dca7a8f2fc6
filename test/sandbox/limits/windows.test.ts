import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Concurrency, dailyQuota, FixedWindow, SlidingWindow } from '../../../src/sandbox/limits/windows.ts';
import { fates } from './admissions.ts';

const windows = (limit: number, window: number, align: 'clock' | 'first'): FixedWindow =>
  new FixedWindow({ limit, window, align });

test('windows of the clock begin at the multiples of their length', () => {
  const minute = Date.parse('2026-01-05T09:30:00Z');
  const times = [59_000, 59_999.5, 59_999.75, 60_000, 119_999, 119_999, 200_000].map((ms) => minute + ms);
  expect(fates(windows(2, 60_000, 'clock'), times)).toEqual([
    ['in', 1, 1000, 1000],
    ['in', 0, 0.5, 0.5],
    ['out', 0, 0.25, 0.25],
    ['in', 1, 60_000, 60_000],
    ['in', 0, 1, 1],
    ['out', 0, 1, 1],
    ['in', 1, 40_000, 40_000],
  ]);
});

test('windows of the first request begin with it, and the next with the first one after', () => {
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

test('the quota is whole again at midnight UTC', () => {
  const times = ['2026-01-05T22:00:00Z', '2026-01-05T23:59:59Z', '2026-01-06T00:00:00Z'].map(Date.parse);
  expect(fates(dailyQuota({ limit: 1 }), times)).toEqual([
    ['in', 0, 7_200_000, 7_200_000],
    ['out', 0, 1000, 1000],
    ['in', 0, 86_400_000, 86_400_000],
  ]);
});

const sliding = (limit: number, window: number): SlidingWindow => new SlidingWindow({ limit, window });

test('each admission counts for exactly the window, refusals never', () => {
  expect(fates(sliding(2, 1000), [0, 400, 999, 1000, 1399, 1400, 9000])).toEqual([
    ['in', 1, 1000, 1000],
    ['in', 0, 600, 1000],
    ['out', 0, 1, 401],
    ['in', 0, 400, 1000],
    ['out', 0, 1, 601],
    ['in', 0, 600, 1000],
    ['in', 1, 1000, 1000],
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
          expect(limiter.admit(now).admitted).toBe(inWindow < limit);
          if (inWindow < limit) admitted.push(now);
        }
      },
    ),
  );
});

test('a refusal tells no waiting time, as nobody knows it', () => {
  const limiter = new Concurrency({ limit: 1 });
  limiter.admit();
  expect(limiter.admit()).toEqual({
    admitted: false,
    allowance: { policy: { quota: 1, capacity: 1, unit: 'concurrent-requests' }, remaining: 0 },
  });
});

test('never more than the limit are in flight, every release makes room for one, and only the first counts', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      // A number releases one of those in flight; the releases of the others are called once more now and then.
      fc.array(fc.oneof(fc.constant('arrives' as const), fc.nat(10)), { maxLength: 200 }),
      (limit, events) => {
        const limiter = new Concurrency({ limit });
        const inFlight: (() => void)[] = [];
        let released: (() => void) | undefined;
        for (const event of events) {
          if (event === 'arrives') {
            const admission = limiter.admit();
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
        const whole = Array.from({ length: limit }, () => limiter.admit().admitted);
        expect(whole).not.toContain(false);
        expect(limiter.admit().admitted).toBe(false);
      },
    ),
  );
});
