import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnswerHeaders } from '../../../src/api/headers.ts';
import { maxCalls, maxWindowMs } from '../../../src/api/limits/limit-reading.ts';
import { noLimits, type StatedLimit, statedLimits } from '../../../src/api/limits/stated-limit.ts';

/** Wed, 01 May 2024 12:00:00 GMT */
const now = Date.UTC(2024, 4, 1, 12);
const epoch = now / 1000;
const day = 86_400_000;

type Expected = Omit<StatedLimit, 'unit'> & Partial<StatedLimit>;
type Case = readonly [claim: string, headers: AnswerHeaders, ...expected: readonly Expected[]];

function statesEach(cases: readonly Case[]): void {
  test.each(cases.map(([claim, headers, ...expected]) => ({ claim, headers, expected })))(
    '$claim',
    ({ headers, expected }) => {
      const complete = expected.map((limit) => ({ unit: 'requests', ...limit }));
      expect(statedLimits(headers, now)).toStrictEqual(complete);
    },
  );
}

const fields = (ratelimit?: string | string[], policy?: string | string[]): AnswerHeaders => ({
  ratelimit,
  'ratelimit-policy': policy,
});

describe('RateLimit and RateLimit-Policy state', () => {
  const burst = { name: 'burst', quota: 100, windowMs: 60_000 };
  statesEach([
    [
      'a limit with its policy',
      fields('"burst";r=7;t=12', '"burst";q=100;w=60'),
      { ...burst, remaining: 7, resetMs: 12_000 },
    ],
    [
      'a limit without a policy',
      fields('"burst";r=7;t=12'),
      { name: 'burst', remaining: 7, resetMs: 12_000 },
    ],
    ['a limit without a time', fields('"burst";r=7'), { name: 'burst', remaining: 7 }],
    ['a policy without a limit', fields(undefined, '"burst";q=100;w=60'), burst],
    ['a policy without a window', fields(undefined, '"burst";q=100'), { name: 'burst', quota: 100 }],
    [
      'several, policies without a limit last',
      fields('"day";r=1', '"burst";q=100;w=60, "day";q=5000;w=86400'),
      { name: 'day', quota: 5000, windowMs: day, remaining: 1 },
      burst,
    ],
    [
      'several fields',
      fields(['"a";r=1', '"b";r=2'], ['"a";q=10', '"b";q=20']),
      { name: 'a', quota: 10, remaining: 1 },
      { name: 'b', quota: 20, remaining: 2 },
    ],
    ['a limit that is used up', fields('"a";r=0;t=0'), { name: 'a', remaining: 0, resetMs: 0 }],
    ['tokens as names', fields('a;r=1', '"a";q=5'), { name: 'a', quota: 5, remaining: 1 }],
    ['escapes in a name', fields('"a\\"b\\\\c, d;r=9";r=1'), { name: 'a"b\\c, d;r=9', remaining: 1 }],
    ['an empty name', fields('"";r=1'), { name: '', remaining: 1 }],
    [
      'white space',
      fields(' "a" ; r=1 ;  t=2 , "b";r=3 '),
      { name: 'a', remaining: 1, resetMs: 2000 },
      { name: 'b', remaining: 3 },
    ],
    [
      'unknown parameters',
      fields('"a";acme="x;r=5,";r=1;flag;t=2;n=1.5'),
      { name: 'a', remaining: 1, resetMs: 2000 },
    ],
    ['the last of equal parameters', fields('"a";r=1;r=2'), { name: 'a', remaining: 2 }],
    [
      'partitions of one policy',
      fields('"a";r=1;pk=:QQ==:, "a";r=2;pk=:Qg==:', '"a";q=10;pk=:QQ==:, "a";q=20;pk=:Qg==:'),
      { name: 'a;pk=:QQ==:', quota: 10, remaining: 1 },
      { name: 'a;pk=:Qg==:', quota: 20, remaining: 2 },
    ],
    [
      'a partition of the policy alone',
      fields('"a";r=1', '"a";q=10;pk=:QQ==:'),
      { name: 'a', quota: 10, remaining: 1 },
    ],
    [
      'concurrent requests',
      fields('"a";r=1', '"a";q=10;qu="concurrent-requests", "b";q=5;qu="requests"'),
      { name: 'a', quota: 10, remaining: 1, unit: 'concurrent-requests' },
      { name: 'b', quota: 5 },
    ],
    ['no bytes', fields('"a";r=1', '"a";q=10;qu="content-bytes", "b";q=10;qu="content-bytes"')],
    ['nothing with an unknown unit', fields(undefined, '"a";q=10;qu="requests "')],
  ]);
});

describe('malformed RateLimit fields state', () => {
  statesEach([
    ['only their sound parts', fields('"a";r=-1;t=5'), { name: 'a', resetMs: 5000 }],
    ['no fractions', fields('"a";r=1.5;t=2', '"a";q=3.5;w=1.5'), { name: 'a', resetMs: 2000 }],
    ['no text as numbers', fields('"a";r="1";t=soon', '"a";q=?1;w=:MQ==:'), { name: 'a', remaining: 1 }],
    ['nothing without numbers', fields('"a"', '"b";w')],
    ['no window alone', fields(undefined, '"a";w=60')],
    ['nothing of a list with one bad item', fields('"a";r=1, "b')],
    ['nothing of a list with a bad separator', fields('"a";r=1 "b";r=2')],
    ['nothing with a name that is not ASCII', fields('"\u009b31m";r=1')],
    ['nothing with a token that is not ASCII', fields('a\u009b31m;r=1')],
    ['nothing with a partition key that is not ASCII', fields('"a";r=1;pk=:\u009b31m:')],
    ['nothing in the form of draft 07', fields('limit=100, remaining=50, reset=30')],
    ['nothing when empty', fields('', '')],
    ['nothing when too long', fields(`"a";r=1;x=${'y'.repeat(4096)}`)],
    ['the limit when the policy is malformed', fields('"a";r=1', '"a";q=10;'), { name: 'a', remaining: 1 }],
  ]);

  test('at most 20 of the items of a list', () => {
    const list = Array.from({ length: 50 }, (_, index) => `"${index}";r=1`).join(',');
    expect(statedLimits(fields(list), now)).toHaveLength(20);
  });
});

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
      'policies without a current quota',
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
      'policies of a field of their own',
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
      'not to which of several policies the rest belongs',
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
    ['only sound parts', of('many', '-1', '30'), { name, resetMs: 30_000 }],
    ['no fractions', of('100.5', '7.5', '1.5')],
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
    ['a time that is over', of(undefined, undefined, String(epoch - 20)), { name, resetMs: 0 }],
    [
      "a time by the server's own clock",
      of(undefined, undefined, String(epoch + 20), 'Wed, 01 May 2024 12:00:15 GMT'),
      { name, resetMs: 5000 },
    ],
    ['policies', of('100, 100;window=60', '7'), { name, quota: 100, windowMs: 60_000, remaining: 7 }],
    ['the first of several', of(undefined, ['7', '9']), { name, remaining: 7 }],
    ['no dates', of('100', undefined, '2024-05-01T12:00:00Z'), { name, quota: 100 }],
    ['nothing that is malformed', of('unlimited', '-1', 'Wed, 01 May 2024 12:00:15 GMT')],
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
    ['nothing but sound numbers', { 'x-ratelimit-limit-minute': 'many', 'x-ratelimit-remaining-minute': '' }],
  ]);
});

describe('absurd numbers', () => {
  const huge = '9'.repeat(400);
  statesEach([
    ['a quota of 0 is left out', fields('"a";r=1', '"a";q=0'), { name: 'a', remaining: 1 }],
    ['a quota of 10^9 is believed', fields(undefined, '"a";q=1000000000'), { name: 'a', quota: maxCalls }],
    ['a larger quota is left out', { 'x-ratelimit-limit': '1000000001' }],
    ['a window of 0 is left out', fields(undefined, '"a";q=5;w=0'), { name: 'a', quota: 5 }],
    [
      'a window of 366 days is believed',
      fields(undefined, '"a";q=5;w=31622400'),
      { name: 'a', quota: 5, windowMs: maxWindowMs },
    ],
    ['a longer window is left out', fields(undefined, '"a";q=5;w=31622401'), { name: 'a', quota: 5 }],
    ['a huge window is left out', fields(undefined, `"a";q=5;w=${huge}`), { name: 'a', quota: 5 }],
    [
      'what remains and the time to a reset are cut',
      fields(`"a";r=${huge};t=${huge}`),
      { name: 'a', remaining: maxCalls, resetMs: maxWindowMs },
    ],
    [
      'a reset in a distant time is cut',
      { 'x-ratelimit-reset': huge },
      { name: 'x-ratelimit', resetMs: maxWindowMs },
    ],
  ]);
});

describe('an answer that states no limit', () => {
  test.each<AnswerHeaders>([
    {},
    { date: 'Wed, 01 May 2024 12:00:00 GMT', 'content-type': 'application/json', 'x-request-id': '1' },
    { 'x-ratelimit-limit': 'many' },
    { 'x-ratelimit-limit': undefined },
    { 'x-rate': '100' },
  ])('gets the shared empty array: %j', (headers) => {
    expect(statedLimits(headers, now)).toBe(noLimits);
  });
});

test('the families come after the policies, the standard ones first', () => {
  const headers = {
    'x-rate-limit-limit': '4',
    'x-ratelimit-limit': '3',
    'ratelimit-limit': '2',
    ratelimit: '"a";r=1',
  };
  const names = statedLimits(headers, now).map(({ name }) => name);
  expect(names).toEqual(['a', 'ratelimit', 'x-ratelimit', 'x-rate-limit']);
});

const fieldNames = ['ratelimit', 'x-ratelimit', 'x-rate-limit'].flatMap((family) =>
  ['', '-minute', '-day'].flatMap((window) =>
    ['limit', 'remaining', 'reset'].map((part) => `${family}-${part}${window}`),
  ),
);

test('whatever comes, no number is absurd', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.constantFrom(
      '"a"',
      'b',
      ';',
      ',',
      ' ',
      '=',
      '"',
      '\\',
      'r',
      't',
      'q',
      'w',
      'qu',
      'pk',
      'r=',
      ';w=',
      ';q=',
    ),
    fc.maxSafeNat().map(String),
    fc.double().map(String),
  );
  const text = fc.oneof(
    fc.string(),
    fc.maxSafeNat().map(String),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
  );
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }));
  const names = ['date', 'ratelimit', 'ratelimit-policy', ...fieldNames];
  const headers = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
  const within = (number: number | undefined, least: number, most: number): boolean =>
    number === undefined || (Number.isInteger(number) && number >= least && number <= most);
  fc.assert(
    fc.property(headers, fc.nat(), (given, time) => {
      for (const limit of statedLimits(given, time)) {
        const { name: _, unit, ...numbers } = limit;
        expect(['requests', 'concurrent-requests']).toContain(unit);
        expect(Object.keys(numbers)).not.toHaveLength(0);
        expect(Object.values(numbers)).not.toContain(undefined);
        expect(within(limit.quota, 1, maxCalls)).toBe(true);
        expect(within(limit.windowMs, 1, maxWindowMs)).toBe(true);
        expect(within(limit.remaining, 0, maxCalls)).toBe(true);
        expect(within(limit.resetMs, 0, maxWindowMs)).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});

test('valid RateLimit fields come back as they were meant', () => {
  const seconds = fc.integer({ min: 1, max: maxWindowMs / 1000 });
  const limit = fc.record({
    name: fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
    quota: fc.integer({ min: 1, max: maxCalls }),
    window: seconds,
    remaining: fc.integer({ min: 0, max: maxCalls }),
    reset: seconds,
    unit: fc.constantFrom('requests' as const, 'concurrent-requests' as const),
  });
  const limits = fc.uniqueArray(limit, { selector: ({ name }) => name, maxLength: 20 });
  const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
  fc.assert(
    fc.property(limits, fc.constantFrom(',', ', ', ' ,\t'), (given, separator) => {
      const list = given.map(({ name, remaining, reset }) => `${quoted(name)};r=${remaining};t=${reset}`);
      const policies = given.map(
        ({ name, quota, window, unit }) => `${quoted(name)};q=${quota};qu="${unit}"; w=${window}`,
      );
      expect(statedLimits(fields(list.join(separator), policies.reverse()), now)).toEqual(
        given.map(({ name, quota, window, remaining, reset, unit }) => ({
          name,
          quota,
          windowMs: window * 1000,
          remaining,
          resetMs: reset * 1000,
          unit,
        })),
      );
    }),
  );
});
