import { expect, test } from 'vitest';
import {
  type LimitHeaderStyle,
  limitHeaders,
  ratePolicy,
  windowPolicy,
} from '../../../src/sandbox/limits/allowance.ts';
import { parseLimitPlan } from '../../../src/sandbox/limits/plan.ts';

const now = Date.parse('2026-01-05T09:30:29.5Z');

/** The headers of the second request at that time. */
function headers(limit: string, style: LimitHeaderStyle): unknown {
  const limiter = parseLimitPlan('--limit', limit);
  limiter.admit(now, 'token');
  const { allowance } = limiter.admit(now, 'token');
  return allowance && limitHeaders(allowance, style, now);
}

test.each([
  ['token-bucket:rate=50,burst=10', '"default";q=50;w=1', '"default";r=8;t=1'],
  ['token-bucket:rate=0.4,burst=1', '"default";q=2;w=5', '"default";r=0;t=3'],
  ['leaky-bucket:rate=50,queue=20', '"default";q=50;w=1', '"default";r=19;t=1'],
  ['fixed-window:limit=600,window=1m', '"default";q=600;w=60', '"default";r=598;t=31'],
  ['sliding-window:limit=50,window=500ms', '"default";q=100;w=1', '"default";r=48;t=1'],
  ['daily-quota:limit=1000', '"default";q=1000;w=86400', '"default";r=998;t=52171'],
  ['concurrency:limit=10', '"default";q=10;qu="concurrent-requests"', '"default";r=8'],
])('ratelimit of %s', (limit, policy, ratelimit) => {
  expect(headers(limit, 'ratelimit')).toEqual({ 'ratelimit-policy': policy, ratelimit });
});

test.each([
  ['token-bucket:rate=0.4,burst=10', '10', '8', '5'],
  ['leaky-bucket:rate=0.5,queue=20', '20', '19', '2'],
  ['fixed-window:limit=600,window=1m', '600', '598', '31'],
  ['sliding-window:limit=50,window=1m', '50', '48', '60'],
  ['daily-quota:limit=1', '1', '0', '52171'],
])('ratelimit-fields and x-ratelimit of %s', (limit, most, remaining, reset) => {
  expect(headers(limit, 'ratelimit-fields')).toEqual({
    'ratelimit-limit': most,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
  });
  expect(headers(limit, 'x-ratelimit')).toEqual({
    'x-ratelimit-limit': most,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
  });
});

test('the reset of x-ratelimit is in seconds since 1970', () => {
  expect(headers('fixed-window:limit=600,window=1m', 'x-ratelimit')).toMatchObject({
    'x-ratelimit-reset': String(Date.parse('2026-01-05T09:31:00Z') / 1000),
  });
});

test('a limit without a time has no reset', () => {
  expect(headers('concurrency:limit=10', 'x-ratelimit')).toEqual({
    'x-ratelimit-limit': '10',
    'x-ratelimit-remaining': '8',
  });
});

test.each(['none', 'ratelimit', 'x-ratelimit'] as const)('no limit has no headers as %s', (style) => {
  expect(headers('none', style)).toBeUndefined();
});

test('none is no headers', () => {
  expect(headers('concurrency:limit=10', 'none')).toBeUndefined();
});

test.each([
  [50, 50, 1],
  [0.5, 1, 2],
  [2.5, 5, 2],
  [0.001, 1, 1000],
  [33.333333, 33_333_333, 1_000_000],
  [999_999_999, 999_999_999, 1],
])('a rate of %d is %d per %d seconds', (rate, quota, window) => {
  expect(ratePolicy(rate, 10.5)).toEqual({ quota, window, capacity: 10 });
});

test.each([
  [100, 60_000, 100, 60],
  [50, 500, 100, 1],
  [50, 1500, 100, 3],
  [1, 333, 1000, 333],
])('%d per %d ms is %d per %d seconds', (limit, length, quota, window) => {
  expect(windowPolicy(limit, length)).toEqual({ quota, window, capacity: limit });
});
