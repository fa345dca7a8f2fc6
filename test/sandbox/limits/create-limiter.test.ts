import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLimiter } from '../../../src/sandbox/limits/create-limiter.ts';
import { parseLimit } from '../../../src/sandbox/options/limit.ts';

const limiterOf = (text: string) => createLimiter(parseLimit('--limit', text));

const limits = [
  'token-bucket:rate=20,burst=3',
  'leaky-bucket:rate=20,queue=3',
  'fixed-window:limit=4,window=200ms',
  'fixed-window:limit=4,window=200ms,align=first',
  'sliding-window:limit=4,window=200ms',
  'daily-quota:limit=4',
  'concurrency:limit=4',
];

describe.each(limits)('%s', (text) => {
  test('admits as many requests at once as remain, and whoever waits as told', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100), { minLength: 1, maxLength: 50 }), (pauses) => {
        const limiter = limiterOf(text);
        let now = 0;
        let left: number | undefined;
        for (const pause of pauses) {
          now += pause;
          const admission = limiter.admit(now, 'one');
          if (pause === 0 && left !== undefined) expect(admission.admitted).toBe(left > 0);
          left = admission.allowance?.remaining;
          if (!admission.admitted && admission.retryAfter !== undefined) {
            now += admission.retryAfter * 1000 + 1e-6;
            const second = limiter.admit(now, 'one');
            expect(second.admitted).toBe(true);
            left = second.allowance?.remaining;
          }
        }
      }),
    );
  });

  test('is shared by all tokens, unless each has its own', () => {
    const drained = (limiter: ReturnType<typeof limiterOf>, token: string): number => {
      for (let admitted = 0; ; admitted++) {
        if (!limiter.admit(0, token).admitted) return admitted;
      }
    };
    const shared = limiterOf(text);
    const whole = drained(shared, 'one');
    expect(whole).toBeGreaterThan(0);
    expect(drained(shared, 'two')).toBe(0);
    const own = limiterOf(`${text},per=token`);
    expect(['one', 'two', 'one'].map((token) => drained(own, token))).toEqual([whole, whole, 0]);
  });
});

test('none admits every request and says nothing', () => {
  const limiter = limiterOf('none');
  expect(limiter.admit(0, 'one')).toEqual({ admitted: true });
});
