import { describe } from 'vitest';
import type { AnswerHeaders } from '../../../../src/engine/api/headers.ts';
import { day, now, statesEach } from './states-each.ts';

const epoch = now / 1000;

describe('RateLimit-Limit, -Remaining and -Reset state', () => {
  const of = (
    limit?: string | string[],
    remaining?: string,
    reset?: string,
    policy?: string,
  ): AnswerHeaders => ({
    'ratelimit-limit': limit,
    'ratelimit-remaining': remaining,
    'ratelimit-reset': reset,
    'ratelimit-policy': policy,
  });
  const name = 'ratelimit';
  statesEach([
    ['a limit', of('100', '7', '30'), { name, quota: 100, remaining: 7, resetMs: 30_000 }],
    ['a quota alone', of('100'), { name, quota: 100 }],
    ['what remains alone', of(undefined, '0'), { name, remaining: 0 }],
    ['a reset alone', of(undefined, undefined, ' 30 '), { name, resetMs: 30_000 }],
    [
      'the window of the policy',
      of('100, 100;w=60', '7'),
      { name, quota: 100, windowMs: 60_000, remaining: 7 },
    ],
    ['the window of the quota', of('100;w=60'), { name, quota: 100, windowMs: 60_000 }],
    ['a window spelled out', of('100, 100;window=60'), { name, quota: 100, windowMs: 60_000 }],
    [
      'all policies, the current one first',
      of('5000, 100;w=60, 5000;w=86400;comment="a, b"', '7', '3'),
      { name: 'ratelimit;w=86400', quota: 5000, windowMs: day, remaining: 7, resetMs: 3000 },
      { name: 'ratelimit;w=60', quota: 100, windowMs: 60_000 },
    ],
    [
      'policies that include no current quota',
      of('10;w=1, 50;w=60', '7'),
      { name: 'ratelimit;w=1', quota: 10, windowMs: 1000, remaining: 7 },
      { name: 'ratelimit;w=60', quota: 50, windowMs: 60_000 },
    ],
    [
      'a current quota of no policy',
      of('80, 100;w=60', '7'),
      { name, quota: 80, remaining: 7 },
      { name: 'ratelimit;w=60', quota: 100, windowMs: 60_000 },
    ],
    [
      'policies in their own field',
      of('100', '7', undefined, '100;w=60, 5000;w=86400'),
      { name: 'ratelimit;w=60', quota: 100, windowMs: 60_000, remaining: 7 },
      { name: 'ratelimit;w=86400', quota: 5000, windowMs: day },
    ],
    [
      'a policy alone',
      of(undefined, '7', undefined, '100;w=60'),
      { name, quota: 100, windowMs: 60_000, remaining: 7 },
    ],
    [
      'not which of several policies the rest belongs to',
      of(undefined, '7', undefined, '100;w=60, 9;w=1'),
      { name, remaining: 7 },
      { name: 'ratelimit;w=60', quota: 100, windowMs: 60_000 },
      { name: 'ratelimit;w=1', quota: 9, windowMs: 1000 },
    ],
    [
      'equal policies once',
      of('100, 100;w=60', undefined, undefined, '100;w=60'),
      { name, quota: 100, windowMs: 60_000 },
    ],
    ['several fields', of(['100', '100;w=60']), { name, quota: 100, windowMs: 60_000 }],
    ['only valid parts', of('many', '-1', '30'), { name, resetMs: 30_000 }],
    ['fractions only of seconds', of('100.5', '7.5', '1.5'), { name, resetMs: 1500 }],
    ['no lists of numbers', of('100', '7, 8', '1, 2'), { name, quota: 100 }],
    ['no other units', of('100;w=soon', '0x10', '30s'), { name, quota: 100 }],
    ['nothing when empty', of('', '', '')],
  ]);
});

describe.each(['x-ratelimit', 'x-rate-limit'])('%s-Limit, -Remaining and -Reset state', (name) => {
  const of = (
    limit?: string,
    remaining?: string | string[],
    reset?: string,
    date?: string,
  ): AnswerHeaders => ({
    [`${name}-limit`]: limit,
    [`${name}-remaining`]: remaining,
    [`${name}-reset`]: reset,
    date,
  });
  statesEach([
    ['seconds', of('100', '7', '30'), { name, quota: 100, remaining: 7, resetMs: 30_000 }],
    [
      'seconds since 1970',
      of('100', '7', String(epoch + 20)),
      { name, quota: 100, remaining: 7, resetMs: 20_000 },
    ],
    ['milliseconds since 1970', of(undefined, undefined, String(now + 2500)), { name, resetMs: 2500 }],
    ['a time that has passed', of(undefined, undefined, String(epoch - 20)), { name, resetMs: 0 }],
    [
      "a time by the server's own clock",
      of(undefined, undefined, String(epoch + 20), 'Wed, 01 May 2024 12:00:15 GMT'),
      { name, resetMs: 5000 },
    ],
    ['policies', of('100, 100;window=60', '7'), { name, quota: 100, windowMs: 60_000, remaining: 7 }],
    ['the first of several', of(undefined, ['7', '9']), { name, remaining: 7 }],
    ['no dates', of('100', undefined, '2024-05-01T12:00:00Z'), { name, quota: 100 }],
    ['nothing for malformed values', of('unlimited', '-1', 'Wed, 01 May 2024 12:00:15 GMT')],
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
      },
      { name: 'x-ratelimit-second', quota: 5, windowMs: 1000, remaining: 4 },
      { name: 'x-ratelimit-minute', quota: 100, windowMs: 60_000, remaining: 99 },
      { name: 'x-ratelimit-hour', quota: 1000, windowMs: 3_600_000 },
      { name: 'x-ratelimit-day', quota: 9000, windowMs: day },
    ],
    [
      'a reset',
      { 'x-ratelimit-remaining-hour': '0', 'x-ratelimit-reset-hour': '60' },
      { name: 'x-ratelimit-hour', windowMs: 3_600_000, remaining: 0, resetMs: 60_000 },
    ],
    [
      'both families',
      { 'ratelimit-remaining-day': '1', 'x-rate-limit-remaining-day': '2' },
      { name: 'ratelimit-day', windowMs: day, remaining: 1 },
      { name: 'x-rate-limit-day', windowMs: day, remaining: 2 },
    ],
    [
      'what Kong sends',
      {
        'ratelimit-limit': '100',
        'ratelimit-remaining': '99',
        'ratelimit-reset': '21',
        'x-ratelimit-limit-minute': '100',
        'x-ratelimit-remaining-minute': '99',
      },
      { name: 'ratelimit', quota: 100, remaining: 99, resetMs: 21_000 },
      { name: 'x-ratelimit-minute', quota: 100, windowMs: 60_000, remaining: 99 },
    ],
    ['nothing for other windows', { 'x-ratelimit-limit-fortnight': '5' }],
    ['only valid numbers', { 'x-ratelimit-limit-minute': 'many', 'x-ratelimit-remaining-minute': '' }],
  ]);
});
