import { expect, test } from 'vitest';
import { type LimitHeaderStyle, limitHeaders } from '../../../src/sandbox/limits/allowance.ts';
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
  ['token-bucket:rate=0.4,burst=10', '10', '8', '5', '09:30:35'],
  ['leaky-bucket:rate=0.5,queue=20', '20', '19', '2', '09:30:32'],
  ['fixed-window:limit=600,window=1m', '600', '598', '31', '09:31:00'],
  ['sliding-window:limit=50,window=1m', '50', '48', '60', '09:31:30'],
  ['daily-quota:limit=1', '1', '0', '52171', '24:00:00'],
  ['concurrency:limit=10', '10', '8', undefined, undefined],
])('ratelimit-fields and x-ratelimit of %s', (limit, most, remaining, reset, at) => {
  expect(headers(limit, 'ratelimit-fields')).toEqual({
    'ratelimit-limit': most,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
  });
  expect(headers(limit, 'x-ratelimit')).toEqual({
    'x-ratelimit-limit': most,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': at && String(Date.parse(`2026-01-05T${at}Z`) / 1000),
  });
});
