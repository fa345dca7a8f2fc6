import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SlidingWindow } from '../../../src/sandbox/limits/sliding-window.ts';
import { fates } from './admissions.ts';

const sliding = (limit: number, window: number): SlidingWindow =>
  new SlidingWindow({ kind: 'sliding-window', limit, window });

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
