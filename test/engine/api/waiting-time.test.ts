import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorDetails } from '../../../src/engine/api/error-details.ts';
import type { AnswerHeaders } from '../../../src/engine/api/headers.ts';
import { type IgnoredWaits, maxWaitMs } from '../../../src/engine/api/wait-reader.ts';
import { waitingTime } from '../../../src/engine/api/waiting-time.ts';

/** Wed, 01 May 2024 12:00:00 GMT */
const now = Date.UTC(2024, 4, 1, 12);
const epoch = now / 1000;

const waitOf = (headers: AnswerHeaders, body?: unknown): number | undefined =>
  waitingTime(headers, errorDetails(body), now)?.ms;
const retryInfo = (retryDelay: unknown): unknown => ({
  code: 8,
  details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
});

describe('Retry-After', () => {
  test.each<[string, number | undefined]>([
    [' 30 ', 30_000],
    ['1.5', 1500],
    ['0.0004', 1],
    ['Wed, 01 May 2024 12:00:30 GMT', 30_000],
    ['Wed May  1 12:00:30 2024', 30_000],
    ['2024-05-01T12:00:30Z', 30_000],
    ['Wed May 01 2024 14:00:30 GMT+0200 (Central European Summer Time)', 30_000],
    ['120ms', 120],
    ['1m6s', 66_000],
    ['1h0m1.5s', 3_601_500],
    ['2024', 2_024_000],
    ['2024-05-01', undefined],
    ['-5', undefined],
    ['100000000000000000000', undefined],
    ['5 seconds', undefined],
    ['+1', undefined],
    ['', undefined],
    ['Wed, 01 May 2024 12:00:30 CEST', undefined],
    ['Wed, 99 Foo 2024 12:00:00 GMT', undefined],
  ])('%j is %s ms', (value, expected) => {
    expect(waitOf({ 'retry-after': value })).toBe(expected);
  });

  test("takes a date relative to the server's own clock", () => {
    const headers = { date: 'Wed, 01 May 2024 09:00:00 GMT', 'retry-after': 'Wed, 01 May 2024 09:00:10 GMT' };
    expect(waitOf(headers)).toBe(10_000);
    expect(waitOf({ ...headers, date: 'nonsense' })).toBe(0);
  });

  test('may come twice: the first well-formed one counts', () => {
    expect(waitOf({ 'retry-after': ['soon', '5', '60'] })).toBe(5000);
  });
});

describe('google.rpc.RetryInfo', () => {
  test.each<[unknown, number | undefined]>([
    ['1.5s', 1500],
    ['0.000000001s', 1],
    [{ seconds: 2, nanos: 500_000_000 }, 2500],
    [{ seconds: 30n }, 30_000],
    [{ seconds: 9_223_372_036_854_775_807n }, undefined],
    [{ nanos: 1_000_000 }, 1],
    [{ seconds: -1 }, undefined],
  ])('with %o is %s ms', (delay, expected) => {
    expect(waitOf({}, retryInfo(delay))).toBe(expected);
  });

  test('is found in a Google error, in snake_case, without a type, and after other details', () => {
    expect(waitOf({}, { error: retryInfo('2s') })).toBe(2000);
    expect(waitOf({}, { details: [{ '@type': 'google.rpc.RetryInfo', retry_delay: '2s' }] })).toBe(2000);
    expect(waitOf({}, { details: [null, 'x', [], { retryDelay: '2s' }] })).toBe(2000);
    const ofConnect = { type: 'google.rpc.RetryInfo', value: 'CgIIAg', debug: { retryDelay: '2s' } };
    expect(waitOf({}, { code: 'unavailable', details: [ofConnect] })).toBe(2000);
  });

  test('is not found in other details', () => {
    expect(
      waitOf({}, { details: [{ '@type': 'type.googleapis.com/google.rpc.Help', retryDelay: '9s' }] }),
    ).toBeUndefined();
  });
});

test.each<[string, string, string | undefined, number | undefined]>([
  ['a limit that is used up', '"default";r=0;t=30', undefined, 30_000],
  ['the longest of several', '"second";r=0;t=1, "day";r=7;t=9999, "minute";r=0;t=42', undefined, 42_000],
  ['no time, but a policy', '"burst";r=0', '"burst";q=100;w=60', 60_000],
  ['no time, and a policy for another', '"burst";r=0', '"day";q=100;w=60', undefined],
  ['no time, but an absurd policy', '"week";r=0', '"week";q=100;w=604800', undefined],
  ['nothing', '', undefined, undefined],
])('RateLimit and RateLimit-Policy %s', (_, limit, policy, expected) => {
  expect(waitOf({ ratelimit: limit, 'ratelimit-policy': policy })).toBe(expected);
});

test('milliseconds are more exact than Retry-After in seconds', () => {
  expect(waitOf({ 'retry-after-ms': '120', 'retry-after': '1' })).toBe(120);
  expect(waitOf({ 'x-ms-retry-after-ms': '0.5' })).toBe(1);
  expect(waitOf({ 'x-amz-retry-after': '86400001', 'retry-after': '1' })).toBe(1000);
});

test('the order is Retry-After, RetryInfo, RateLimit, RateLimit-Reset, X-RateLimit-Reset; malformed ones are skipped', () => {
  const last = { ratelimit: '"p";r=0;t=3', 'ratelimit-reset': '4', 'x-ratelimit-reset': '5' };
  expect(waitOf({ 'retry-after': '1', ...last }, retryInfo('2s'))).toBe(1000);
  expect(waitOf({ 'retry-after': 'soon', ...last }, retryInfo('2s'))).toBe(2000);
  expect(waitOf(last, retryInfo('soon'))).toBe(3000);
  expect(waitOf({ ...last, ratelimit: '"p";r=1' })).toBe(4000);
  expect(waitOf({})).toBeUndefined();
});

/** Every text that may state a wait, with what it means. */
const seconds = [
  ['0', 0],
  ['30', 30_000],
  ['86400', maxWaitMs],
  ['86401', undefined],
  [String(epoch + 30), 30_000],
  [String(epoch + 86_400), maxWaitMs],
  [String(epoch + 86_401), undefined],
  [String(now + 2_500), 2_500],
  [String(now + maxWaitMs + 1), undefined],
  ['1e20', undefined],
  ['-1', undefined],
  ['soon', undefined],
] as const;
interface Place {
  readonly header: string;
  readonly answer: (value: string) => readonly [AnswerHeaders, unknown?];
  /** How a value is shown. */
  readonly pattern?: string;
}

const places: readonly Place[] = [
  { header: 'Retry-After', answer: (value) => [{ 'retry-after': value }] },
  { header: 'RetryInfo', answer: (value) => [{}, retryInfo(`${value}s`)], pattern: '…s' },
  { header: 'RateLimit', answer: (value) => [{ ratelimit: `"a";r=0;t=${value}` }], pattern: 't=…' },
  ...['RateLimit', 'X-RateLimit', 'X-Rate-Limit'].flatMap((family) =>
    ['', '-Second', '-Minute', '-Hour', '-Day'].map((window) => resetPlace(`${family}-Reset${window}`)),
  ),
];

function resetPlace(header: string): Place {
  return { header, answer: (value) => [{ [header.toLowerCase()]: value }] };
}

describe.each(places)('$header', ({ header, answer, pattern = '…' }) => {
  test.each(seconds)('of %s asks to wait for %s ms', (value, expected) => {
    const ignored: IgnoredWaits = new Map();
    const [headers, body] = answer(value);
    const shown = pattern.replace('…', value);
    const wait = waitingTime(headers, errorDetails(body), now, ignored);
    expect(wait?.ms).toBe(expected);
    expect([...ignored]).toEqual(expected === undefined ? [[header, shown]] : []);
    expect(wait?.askedBy).toBe((expected ?? 0) > 60_000 ? `${header}: ${shown}` : undefined);
  });

  test('is compared with the clock of the server', () => {
    const [headers, body] = answer(String(epoch + 30));
    const dated = { ...headers, date: 'Wed, 01 May 2024 12:00:20 GMT' };
    expect(waitingTime(dated, errorDetails(body), now - 9e9)?.ms).toBe(10_000);
  });
});

test('the time is always whole and between 0 and the maximum', () => {
  const value = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.double().map(String),
    fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String),
    fc.constantFrom('"p";r=0;t=3', 'Wed, 01 May 2024 12:00:30 GMT'),
  );
  const names = 'date retry-after ratelimit ratelimit-policy ratelimit-reset x-ratelimit-reset'.split(' ');
  const headers = fc.record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] });
  fc.assert(
    fc.property(headers, fc.jsonValue(), (given, body) => {
      const wait = waitOf(given, retryInfo(body)) ?? 0;
      expect(Number.isInteger(wait) && wait >= 0 && wait <= maxWaitMs).toBe(true);
    }),
  );
});
