import { describe } from 'vitest';
import type { AnswerHeaders } from '../../../../src/engine/api/headers.ts';
import { day, statesEach } from './states-each.ts';

describe('RateLimit-Limit, -Remaining and -Reset state', () => {
  const of = (
    ...[limit, remaining, reset, policy]: readonly (string | string[] | undefined)[]
  ): AnswerHeaders => ({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
    'ratelimit-policy': policy,
  });
  const name = 'ratelimit';
  const perMinute = { quota: 100, windowMs: 60_000 };
  const perDay = { quota: 5000, windowMs: day };
  statesEach([
    ['a limit', of('100', '7', '30'), { name, quota: 100, remaining: 7, resetMs: 30_000 }],
    ['the window of the policy', of('100, 100;w=60', '7'), { name, ...perMinute, remaining: 7 }],
    [
      'all policies, the current one first',
      of('5000, 100;w=60, 5000;w=86400;comment="a, b"', '7', '3'),
      { name: 'ratelimit;w=86400', ...perDay, remaining: 7, resetMs: 3000 },
      { name: 'ratelimit;w=60', ...perMinute },
    ],
    [
      'policies in their own field',
      of('100', '7', undefined, '100;w=60, 5000;w=86400'),
      { name: 'ratelimit;w=60', ...perMinute, remaining: 7 },
      { name: 'ratelimit;w=86400', ...perDay },
    ],
    ['a policy alone', of(undefined, '7', undefined, '100;w=60'), { name, ...perMinute, remaining: 7 }],
    ['only valid parts', of('many', '-1', '30'), { name, resetMs: 30_000 }],
    ['no lists of numbers', of('100', '7, 8', '1, 2'), { name, quota: 100 }],
  ]);
});

// How a reset is read is in ../waiting-time.test.ts.
describe.each(['x-ratelimit', 'x-rate-limit'])('%s-Limit, -Remaining and -Reset state', (name) => {
  const of = (limit?: string, remaining?: string | string[], reset?: string): AnswerHeaders => ({
    [`${name}-limit`]: limit,
    [`${name}-remaining`]: remaining,
    [`${name}-reset`]: reset,
  });
  statesEach([
    ['seconds', of('100', '7', '30'), { name, quota: 100, remaining: 7, resetMs: 30_000 }],
    [
      'a time',
      of('100', '7', 'Wed, 01 May 2024 12:00:15 GMT'),
      { name, quota: 100, remaining: 7, resetMs: 15_000 },
    ],
    ['nothing for malformed values', of('unlimited', '-1', '2024-05-02')],
  ]);
});

describe('fields with a window in their names state', () => {
  statesEach([
    [
      'every window',
      {
        'x-ratelimit-limit-second': '5',
        'x-ratelimit-remaining-second': '4',
        'x-ratelimit-limit-minute': '100',
        'x-ratelimit-remaining-minute': '99',
        'x-ratelimit-limit-hour': '1000',
        'x-ratelimit-limit-day': '9000',
        'ratelimit-limit': '100',
      },
      { name: 'ratelimit', quota: 100 },
      { name: 'x-ratelimit-second', quota: 5, windowMs: 1000, remaining: 4 },
      { name: 'x-ratelimit-minute', quota: 100, windowMs: 60_000, remaining: 99 },
      { name: 'x-ratelimit-hour', quota: 1000, windowMs: 3_600_000 },
      { name: 'x-ratelimit-day', quota: 9000, windowMs: day },
    ],
    ['nothing for other windows', { 'x-ratelimit-limit-fortnight': '5' }],
  ]);
});
