import { expect, test } from 'vitest';
import { PlannedLimiter } from '../../../src/sandbox/limits/limit-plan.ts';
import { parseLimitPlan } from '../../../src/sandbox/options/limit-plan.ts';

const planned = (text: string): PlannedLimiter => new PlannedLimiter(parseLimitPlan('--limit', text));
const quotas = (limiter: PlannedLimiter, times: readonly number[]): (number | undefined)[] =>
  times.map((now) => limiter.admit(now, 'token').allowance?.policy.quota);

test('each limit comes into force its time after the one before, the second after the first request', () => {
  const limiter = planned('token-bucket:rate=50 then 30s token-bucket:rate=10 then 1s none');
  expect(quotas(limiter, [5000, 34_999, 35_000, 35_999, 36_000, 99_000])).toEqual([
    50,
    50,
    10,
    10,
    undefined,
    undefined,
  ]);
});

test('limits whose time passed without a request are left out', () => {
  const limiter = planned('daily-quota:limit=1 then 1s daily-quota:limit=2 then 1s daily-quota:limit=3');
  expect(quotas(limiter, [0, 2500])).toEqual([1, 3]);
});

test('a new limit starts with nothing used up', () => {
  const limiter = planned('daily-quota:limit=1,per=token then 1s daily-quota:limit=1,per=token');
  expect([0, 0, 1000, 1000].map((now) => limiter.admit(now, 'token').admitted)).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('requests in flight at the change do not count for the new limit, nor does their end', () => {
  const limiter = planned('concurrency:limit=1 then 1s concurrency:limit=1');
  const early = limiter.admit(0, 'token');
  expect(limiter.admit(1000, 'token').admitted).toBe(true);
  if (early.admitted) early.release?.();
  expect(limiter.admit(1001, 'token').admitted).toBe(false);
});
