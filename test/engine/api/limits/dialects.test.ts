import { describe, expect, test } from 'vitest';
import { classify } from '../../../../src/engine/api/classify.ts';
import type { AnswerHeaders } from '../../../../src/engine/api/headers.ts';
import { type StatedLimit, statedLimits } from '../../../../src/engine/api/limits.ts';
import { createTokenMask } from '../../../../src/engine/api/token/token-mask.ts';
import { now } from './states-each.ts';

interface Dialect {
  readonly server: string;
  readonly headers: AnswerHeaders;
  readonly limits: readonly (Omit<StatedLimit, 'unit'> & Partial<StatedLimit>)[];
}

const inSeconds = (seconds: number): string => String(now / 1000 + seconds);

/** What each server states with an accepted call, as it was seen on the wire or is documented. */
const stated: readonly Dialect[] = [
  {
    server: 'express-rate-limit, draft-8',
    headers: {
      ratelimit: '"100-in-15sec"; r=99; t=15',
      'ratelimit-policy': '"100-in-15sec"; q=100; w=15; pk=:MTJjYTE3YjQ5YWYy:',
    },
    limits: [
      {
        name: '100-in-15sec',
        quota: 100,
        windowMs: 15_000,
        remaining: 99,
        resetMs: 15_000,
      },
    ],
  },
  {
    server: 'express-rate-limit, draft-7',
    headers: { ratelimit: 'limit=100, remaining=99, reset=15', 'ratelimit-policy': '100;w=15' },
    limits: [{ name: 'ratelimit', quota: 100, windowMs: 15_000, remaining: 99, resetMs: 15_000 }],
  },
  {
    server: 'express-rate-limit, draft-6',
    headers: {
      'ratelimit-policy': '100;w=15',
      'ratelimit-limit': '100',
      'ratelimit-remaining': '99',
      'ratelimit-reset': '15',
    },
    limits: [{ name: 'ratelimit', quota: 100, windowMs: 15_000, remaining: 99, resetMs: 15_000 }],
  },
  {
    server: 'express-rate-limit, legacy',
    headers: {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': inSeconds(15),
    },
    limits: [{ name: 'x-ratelimit', quota: 100, remaining: 99, resetMs: 15_000 }],
  },
  {
    server: '@fastify/rate-limit',
    headers: { 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': '49', 'x-ratelimit-reset': '10' },
    limits: [{ name: 'x-ratelimit', quota: 50, remaining: 49, resetMs: 10_000 }],
  },
  {
    server: '@fastify/rate-limit, enableDraftSpec',
    headers: { 'ratelimit-limit': '50', 'ratelimit-remaining': '49', 'ratelimit-reset': '10' },
    limits: [{ name: 'ratelimit', quota: 50, remaining: 49, resetMs: 10_000 }],
  },
  {
    server: 'rate-limiter-flexible, as its README says',
    headers: { 'x-ratelimit-limit': '20', 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': inSeconds(2) },
    limits: [{ name: 'x-ratelimit', quota: 20, remaining: 3, resetMs: 2_000 }],
  },
  {
    server: 'rate-limiter-flexible, as its README said before',
    headers: {
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '3',
      'x-ratelimit-reset': 'Wed May 01 2024 14:00:02 GMT+0200 (Central European Summer Time)',
    },
    limits: [{ name: 'x-ratelimit', quota: 20, remaining: 3, resetMs: 2_000 }],
  },
  {
    server: 'Kong',
    headers: {
      'ratelimit-limit': '10',
      'ratelimit-remaining': '9',
      'ratelimit-reset': '47',
      'x-ratelimit-limit-minute': '10',
      'x-ratelimit-remaining-minute': '9',
      'x-ratelimit-limit-month': '9000',
      'x-ratelimit-remaining-month': '8999',
    },
    limits: [
      { name: 'ratelimit', quota: 10, remaining: 9, resetMs: 47_000 },
      { name: 'x-ratelimit-minute', quota: 10, windowMs: 60_000, remaining: 9 },
      { name: 'x-ratelimit-month', quota: 9000, windowMs: 30 * 86_400_000, remaining: 8999 },
    ],
  },
  {
    server: 'Envoy',
    headers: {
      'x-ratelimit-limit': '10, 10;w=1;name="per-address", 1000;w=3600',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': '1',
    },
    limits: [
      { name: 'x-ratelimit;w=1', quota: 10, windowMs: 1_000, remaining: 9, resetMs: 1_000 },
      { name: 'x-ratelimit;w=3600', quota: 1000, windowMs: 3_600_000 },
    ],
  },
  {
    server: 'AWS (Selling Partner API)',
    headers: { 'x-amzn-ratelimit-limit': '0.0167' },
    limits: [{ name: 'x-amzn-ratelimit-limit', quota: 1, windowMs: 59_881 }],
  },
  {
    server: 'AWS, with more than one call per second',
    headers: { 'x-amzn-ratelimit-limit': '2.5' },
    limits: [{ name: 'x-amzn-ratelimit-limit', quota: 25, windowMs: 10_000 }],
  },
  {
    server: 'GitHub',
    headers: {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4999',
      'x-ratelimit-reset': inSeconds(50),
      'x-ratelimit-used': '1',
      'x-ratelimit-resource': 'core',
    },
    limits: [{ name: 'x-ratelimit', quota: 5000, remaining: 4999, resetMs: 50_000 }],
  },
  {
    server: 'Azure Resource Manager',
    headers: {
      'x-ms-ratelimit-remaining-subscription-writes': '1199',
      'x-ms-ratelimit-remaining-resource':
        'Microsoft.Compute/PutVM3Min;197,Microsoft.Compute/PutVM30Min;1297',
    },
    limits: [
      { name: 'x-ms-ratelimit-remaining-subscription-writes', remaining: 1199 },
      { name: 'x-ms-ratelimit-remaining-resource;Microsoft.Compute/PutVM3Min', remaining: 197 },
      { name: 'x-ms-ratelimit-remaining-resource;Microsoft.Compute/PutVM30Min', remaining: 1297 },
    ],
  },
  {
    server: 'Azure OpenAI',
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1m6s',
      'x-ratelimit-limit-tokens': '150000',
    },
    limits: [
      {
        name: 'x-ratelimit-requests',
        quota: 60,
        remaining: 59,
        resetMs: 66_000,
        resetBy: 'X-RateLimit-Reset-Requests: 1m6s',
      },
    ],
  },
];

test.each(stated)('$server states its limit', ({ headers, limits }) => {
  expect(statedLimits(headers, now)).toStrictEqual(limits.map((limit) => ({ unit: 'requests', ...limit })));
});

const tooMany = '{"message":"Too Many Requests"}';

/** What each server answers to a refused call, and how long it asks to wait. */
const refused: [server: string, status: number, headers: AnswerHeaders, ms: number | undefined][] = [
  ['express-rate-limit', 429, { 'retry-after': '15', 'x-ratelimit-remaining': '0' }, 15_000],
  [
    'express-rate-limit, draft-7 without Retry-After',
    429,
    { ratelimit: 'limit=100, remaining=0, reset=9' },
    9_000,
  ],
  [
    '@fastify/rate-limit',
    429,
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '7', 'retry-after': '7' },
    7_000,
  ],
  ['rate-limiter-flexible', 429, { 'retry-after': '0.347' }, 347],
  ['Kong', 429, { 'ratelimit-remaining': '0', 'ratelimit-reset': '47', 'retry-after': '47' }, 47_000],
  [
    'Envoy',
    429,
    { 'x-envoy-ratelimited': 'true', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
    1_000,
  ],
  ['AWS API Gateway', 429, { 'x-amzn-errortype': 'LimitExceededException' }, undefined],
  [
    'AWS, with 400',
    400,
    { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/' },
    undefined,
  ],
  ['AWS, with a time', 503, { 'x-amz-retry-after': '1500' }, 1_500],
  ['GitHub, primary', 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(50) }, 50_000],
  ['GitHub, secondary', 403, { 'x-ratelimit-remaining': '4000', 'retry-after': '60' }, 60_000],
  ['Azure Resource Manager', 429, { 'retry-after': '17' }, 17_000],
  ['Azure Cosmos DB', 429, { 'x-ms-retry-after-ms': '33' }, 33],
  ['Azure OpenAI', 429, { 'retry-after-ms': '1250', 'retry-after': '2' }, 1_250],
];

describe('a refusal', () => {
  test.each(refused)('by %s (%i) asks to slow down', (_server, status, headers, ms) => {
    const answer = { status, headers, body: tooMany };
    const failure = classify(answer, { now, mask: createTokenMask('my-secret') });
    expect(failure).toMatchObject({ class: 'slow-down', unclear: false });
    expect(failure.waitMs).toBe(ms);
  });

  test.each<[string, AnswerHeaders]>([
    ['that states calls left', { 'x-ratelimit-remaining': '10', 'x-ratelimit-reset': '60' }],
    ['that says nothing', {}],
    ['whose time to wait makes no sense', { 'retry-after': '-5' }],
  ])('with 403 %s is about the permission', (_title, headers) => {
    const failure = classify(
      { status: 403, headers, body: tooMany },
      { now, mask: createTokenMask('my-secret') },
    );
    expect(failure).toMatchObject({ code: 'PERMISSION_DENIED', class: 'halt-early' });
  });
});
