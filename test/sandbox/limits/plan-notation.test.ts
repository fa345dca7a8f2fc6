import { expect, test } from 'vitest';
import { parseLimitPlan } from '../../../src/sandbox/limits/plan.ts';

/** At a quarter past twelve: how many are granted, the wait for the rest, and whether another token has its own allowance. */
function granted(text: string) {
  const now = Date.parse('2026-01-05T12:15:00Z');
  const limiter = parseLimitPlan('--limit', text);
  const { allowance } = limiter.admit(now, 'one');
  const second = limiter.admit(now, 'two');
  const isOwn = second.allowance?.remaining === allowance?.remaining;
  return { ...allowance?.policy, rest: allowance?.wholeAfter, per: isOwn ? 'token' : 'all' };
}

test.each([
  ['token-bucket:rate=50,burst=10', { quota: 50, window: 1, capacity: 10, rest: 20, per: 'all' }],
  ['token-bucket:rate=0.5', { quota: 1, window: 2, capacity: 1 }],
  ['token-bucket:rate=33.333333', { quota: 33_333_333, window: 1_000_000, capacity: 34 }],
  ['token-bucket:rate=5,per=token', { quota: 5, window: 1, capacity: 5, rest: 200, per: 'token' }],
  ['leaky-bucket:rate=50,queue=7', { quota: 50, window: 1, capacity: 7, rest: 0, per: 'all' }],
  ['fixed-window:limit=600,window=1h', { quota: 600, window: 3600, rest: 45 * 60_000, per: 'all' }],
  [
    'fixed-window:limit=1,window=24h,align=first,per=token',
    { quota: 1, window: 86_400, rest: 86_400_000, per: 'token' },
  ],
  ['sliding-window:limit=50,window=1.5 s', { quota: 100, window: 3, capacity: 50, rest: 1500, per: 'all' }],
  ['concurrency:limit=10,per=all', { quota: 10, capacity: 10, per: 'all' }],
  ['daily-quota:limit=1000', { quota: 1000, window: 86_400, rest: 11.75 * 3_600_000, per: 'all' }],
])('%s', (text, expected) => {
  expect(granted(text)).toMatchObject(expected);
});

test.each([
  [
    '',
    'unknown limit ""; known limits: none, token-bucket, leaky-bucket, fixed-window, sliding-window, concurrency, daily-quota',
  ],
  ['toString', 'unknown limit "toString"'],
  ['token-bucket', 'rate: must be given as a number, 0.001 or more'],
  ['token-bucket:rate=0', 'rate: must be given as a number'],
  ['token-bucket:rate=50/s', 'rate: must be given as a number'],
  ['token-bucket:rate=1,burst=0.5', 'burst: must be given as a number, 1 or more'],
  [
    'token-bucket:rate=1,window=5',
    'token-bucket has no parameter window; known parameters: rate, burst, per',
  ],
  ['leaky-bucket:rate=1', 'queue: must be given as a whole number, 0 or more'],
  ['fixed-window:limit=0,window=1m', 'limit: must be given as a whole number, 1 or more'],
  ['fixed-window:limit=1', 'window: must be given as a duration of whole milliseconds, such as'],
  ['fixed-window:limit=1,window=1d', '--limit: window: "1d" is not a duration; write it as'],
  ['fixed-window:limit=1,window=1m,align=day', 'align: "day" is not one of clock, first'],
  ['daily-quota:limit=1,window=1h', 'daily-quota has no parameter window; known parameters: limit, per'],
  ['none:rate=1', 'none has no parameter rate; known parameters: none'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLimitPlan('--limit', text)).toThrow(message);
});

const bucket = (rate: number) => `token-bucket:rate=${rate}`;

test.each([
  [`none then 1.5s ${bucket(5)}`, [undefined, 5], [0, 1500]],
  [`none then 2 m ${bucket(5)}`, [undefined, 5], [119_999, 120_000]],
  [` ${bucket(5)} then  30s ${bucket(1)}\nthen 1m none `, [5, 1, 1, undefined], [0, 30_000, 89_999, 90_000]],
])('%j', (text, quotas, times) => {
  const limiter = parseLimitPlan('--limit', text);
  const first = 5000;
  limiter.admit(first, 'token');
  expect(times.map((time) => limiter.admit(first + time, 'token').allowance?.policy.quota)).toEqual(quotas);
});

const remedy = '--limit: write a duration and a limit after "then": then 30s token-bucket:rate=10';

test.each([
  ['none then', remedy],
  ['none then token-bucket:rate=1', remedy],
  ['none then soon none', '--limit: then: "soon" is not a duration; write it as'],
  ['none then 30s bucket', '--limit: unknown limit "bucket"'],
  ['then 30s none', '--limit: unknown limit "then 30s none"'],
])('%j is refused: %s', (text, message) => {
  expect(() => parseLimitPlan('--limit', text)).toThrow(message);
});
