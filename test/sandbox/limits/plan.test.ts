import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limiter } from '../../../src/sandbox/limits/limiters.ts';
import { parseLimitPlan } from '../../../src/sandbox/limits/plan.ts';

const planned = (text: string): Limiter => parseLimitPlan('--limit', text);

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
  test('admits as many requests at once as remain, and another one after the stated wait', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100), { minLength: 1, maxLength: 50 }), (pauses) => {
        const limiter = planned(text);
        let now = 0;
        let left: number | undefined;
        for (const pause of pauses) {
          now += pause;
          const admission = limiter.admit(now, 'one');
          if (pause === 0 && left !== undefined) expect(admission.isAdmitted).toBe(left > 0);
          left = admission.allowance?.remaining;
          if (!admission.isAdmitted && admission.retryAfter !== undefined) {
            now += admission.retryAfter * 1000 + 1e-6;
            const second = limiter.admit(now, 'one');
            expect(second.isAdmitted).toBe(true);
            left = second.allowance?.remaining;
          }
        }
      }),
    );
  });

  test('is shared by all tokens, unless each has its own', () => {
    const drained = (limiter: Limiter, token: string): number => {
      for (let admitted = 0; ; admitted++) {
        if (!limiter.admit(0, token).isAdmitted) return admitted;
      }
    };
    const shared = planned(text);
    const whole = drained(shared, 'one');
    expect(whole).toBeGreaterThan(0);
    expect(drained(shared, 'two')).toBe(0);
    const own = planned(`${text},per=token`);
    expect(['one', 'two', 'one'].map((token) => drained(own, token))).toEqual([whole, whole, 0]);
  });
});

const quotas = (limiter: Limiter, times: readonly number[]): (number | undefined)[] =>
  times.map((now) => limiter.admit(now, 'token').allowance?.policy.quota);

test('limits whose time passed without a request are skipped', () => {
  const limiter = planned('daily-quota:limit=1 then 1s daily-quota:limit=2 then 1s daily-quota:limit=3');
  expect(quotas(limiter, [0, 2500])).toEqual([1, 3]);
});

test('a new limit starts with nothing used up', () => {
  const limiter = planned('daily-quota:limit=1,per=token then 1s daily-quota:limit=1,per=token');
  expect([0, 0, 1000, 1000].map((now) => limiter.admit(now, 'token').isAdmitted)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('requests in flight at the change do not count for the new limit, nor does their end', () => {
  const limiter = planned('concurrency:limit=1 then 1s concurrency:limit=1');
  const early = limiter.admit(0, 'token');
  expect(limiter.admit(1000, 'token').isAdmitted).toBe(true);
  early.release?.();
  expect(limiter.admit(1001, 'token').isAdmitted).toBe(false);
});
