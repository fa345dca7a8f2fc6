import { describe, expect, test } from 'vitest';
import { classify, rpcCode } from '../../../src/engine/api/classify.ts';
import type { ApiFailure } from '../../../src/engine/api/failure.ts';
import type { AnswerHeaders } from '../../../src/engine/api/headers.ts';
import { createTokenMask } from '../../../src/engine/api/token/token-mask.ts';
import { briefly } from './local-server.ts';

const now = Date.parse('2024-05-01T12:00:00Z');

function classified(status: number, body = '{"message":"m"}', headers: AnswerHeaders = {}): ApiFailure {
  return classify({ status, headers, body }, { now, mask: createTokenMask('my-secret') });
}

/** The codes of `google/rpc/code.proto` from 1, and what each means. */
const codes = [
  ['CANCELLED', 'retry', 'unclear'],
  ['UNKNOWN', 'retry', 'unclear'],
  ['INVALID_ARGUMENT', 'permanent', 'clear'],
  ['DEADLINE_EXCEEDED', 'retry', 'unclear'],
  ['NOT_FOUND', 'permanent', 'clear'],
  ['ALREADY_EXISTS', 'permanent', 'clear'],
  ['PERMISSION_DENIED', 'halt-early', 'clear'],
  ['RESOURCE_EXHAUSTED', 'retry', 'clear'],
  ['FAILED_PRECONDITION', 'permanent', 'clear'],
  ['ABORTED', 'retry', 'clear'],
  ['OUT_OF_RANGE', 'permanent', 'clear'],
  ['UNIMPLEMENTED', 'permanent', 'clear'],
  ['INTERNAL', 'retry', 'unclear'],
  ['UNAVAILABLE', 'retry', 'unclear'],
  ['DATA_LOSS', 'permanent', 'unclear'],
  ['UNAUTHENTICATED', 'halt', 'clear'],
] as const;
const numbered = codes.map(
  ([name, failureClass, state], index) => [index + 1, name, failureClass, state] as const,
);

describe('a canonical code', () => {
  test.each(numbered)('%i in every spelling is %s', (number, name) => {
    const lower = name.toLowerCase();
    const pascal = lower.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
    const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1);
    for (const spelling of [number, String(number), name, lower, pascal, camel, lower.replace('_', '-')])
      expect(rpcCode(spelling)).toBe(name);
  });

  test('CANCELLED has another spelling', () => {
    expect(rpcCode('canceled')).toBe('CANCELLED');
  });

  test('is nothing else', () => {
    const names = ['404', '0', 'OK', '', 'EVALUATION_NOT_DELETED', 'x'.repeat(1000)];
    const others = [0, 17, -1, 1.5, 404, ...names, 5n, null, undefined, {}, ['NOT_FOUND']];
    for (const other of others) expect(rpcCode(other), String(other)).toBeUndefined();
  });

  test.each(numbered)('%i %s is %s, %s, whatever the HTTP status', (number, code, failureClass, state) => {
    for (const body of [
      `{"code":${number},"message":"m"}`,
      `{"code":"${code.toLowerCase()}","message":"m"}`,
      `{"error":{"code":400,"status":"${code}","message":"m"}}`,
    ])
      for (const status of [400, 404, 409, 418, 500, 502, 503]) {
        const failure = classified(status, body);
        expect(briefly(failure)).toBe(
          `${failureClass} ${code} ${status}${state === 'clear' ? '' : ' unclear'}`,
        );
      }
  });

  test.each([5, 7, 14])('does not outweigh a 429 or a 401: code %i', (code) => {
    expect(briefly(classified(429, `{"code":${code}}`))).toBe('slow-down RESOURCE_EXHAUSTED 429');
    expect(briefly(classified(401, `{"code":${code}}`))).toBe('halt UNAUTHENTICATED 401');
  });
});

describe('an HTTP status without a canonical code', () => {
  test.each([
    'permanent INVALID_ARGUMENT 400',
    'halt UNAUTHENTICATED 401',
    'permanent HTTP_402 402',
    'halt-early PERMISSION_DENIED 403',
    'permanent NOT_FOUND 404',
    'permanent UNIMPLEMENTED 405',
    'retry REQUEST_TIMEOUT 408',
    'permanent CONFLICT 409',
    'permanent FAILED_PRECONDITION 412',
    'permanent INVALID_ARGUMENT 422',
    'retry TOO_EARLY 425',
    'slow-down RESOURCE_EXHAUSTED 429',
    'retry CANCELLED 499 unclear',
    'retry INTERNAL 500 unclear',
    'permanent UNIMPLEMENTED 501',
    'retry BAD_GATEWAY 502 unclear',
    'retry UNAVAILABLE 503 unclear',
    'retry DEADLINE_EXCEEDED 504 unclear',
    'retry HTTP_599 599 unclear',
    'permanent HTTP_600 600 unclear',
  ])('means %s', (meaning) => {
    const status = Number(/ (\d+)/.exec(meaning)?.[1]);
    const problem = '{"type":"about:blank","title":"m","status":400}';
    for (const body of ['{"message":"m"}', problem, '{"code":404,"message":"m"}'])
      expect(briefly(classified(status, body))).toBe(meaning);
  });

  test.each([
    ['an HTML page', '<html><title>Oops</title></html>', 'with an HTML page ("Oops")'],
    ['plain text', '404 page not found', 'with text ("404 page not found")'],
    ['nothing', '', 'with nothing'],
  ])('a 404, 405 or 501 with %s suggests checking the base URL', (_, body, message) => {
    for (const status of [404, 405, 501]) {
      const failure = classified(status, body);
      const code = status === 404 ? 'NOT_FOUND' : 'UNIMPLEMENTED';
      expect(briefly(failure)).toBe(`halt-early ${code} ${status}`);
      expect(failure.message).toBe(
        `The server answered ${status} ${message} instead of JSON: check the base URL (--base-url) and its path prefix`,
      );
    }
  });
});

describe('the code of a router', () => {
  test.each([
    ['a gateway', 404, '{"code":5,"message":"Not Found","details":[]}'],
    ['a gateway for another method', 501, '{"code":12,"message":"Method Not Allowed","details":[]}'],
    ['a framework for another method', 405, '{"detail":"Method Not Allowed"}'],
    ['Kong', 404, '{"message":"no Route matched with those values"}'],
    ['Cloud Endpoints', 404, '{"code":5,"message":"The current request is not defined by this API."}'],
    ['Nest', 404, '{"message":"Cannot POST /api/restore","error":"Not Found","statusCode":404}'],
    ['Fastify', 404, '{"message":"Route POST:/api/restore not found","error":"Not Found","statusCode":404}'],
  ])('is that of a wrong path: %s', (_, status, body) => {
    const failure = classified(status, body);
    expect(briefly(failure)).toBe(`halt-early UNIMPLEMENTED ${status}`);
    expect(failure.message).toMatch(/^The server answered \d+ with .*: check the base URL \(--base-url\)/);
  });

  const reason = '{"@type":"google.rpc.ErrorInfo","reason":"EVALUATION_UNKNOWN"}';

  test.each([
    ['an operation', 'NOT_FOUND 404', '{"code":5,"message":"evaluation 7 not found","details":[]}'],
    ['an operation of Connect', 'NOT_FOUND 404', '{"code":"not_found","message":"Not Found"}'],
    ['a service without codes', 'NOT_FOUND 404', '{"message":"Not Found","documentation_url":"u"}'],
    ['an operation with a reason', 'NOT_FOUND 404', `{"code":5,"message":"Not Found","details":[${reason}]}`],
    ['an operation that is missing', 'UNIMPLEMENTED 501', '{"code":12,"message":"not available for e-mail"}'],
    ['a refusal', 'INVALID_ARGUMENT 400', '{"code":3,"message":"Not Found"}'],
  ])('is not that of %s', (_, meaning, body) => {
    expect(briefly(classified(Number(meaning.slice(-3)), body))).toBe(`permanent ${meaning}`);
  });
});

describe('a waiting time', () => {
  const wait = { 'retry-after': '30' };

  test.each([
    [429, '{}', 'slow-down RESOURCE_EXHAUSTED 429'],
    [503, '{}', 'slow-down UNAVAILABLE 503'],
    [503, '{"code":13}', 'slow-down INTERNAL 503'],
    [500, '{"code":14}', 'slow-down UNAVAILABLE 500'],
    [400, '{"code":8}', 'slow-down RESOURCE_EXHAUSTED 400'],
    [500, '{}', 'retry INTERNAL 500 unclear'],
    [408, '{}', 'retry REQUEST_TIMEOUT 408'],
  ])('with %s %s is used: %s', (status, body, meaning) => {
    const failure = classified(status, body, wait);
    expect(briefly(failure)).toBe(meaning);
    expect(failure.waitMs).toBe(30_000);
  });

  test.each([
    [400, '{}'],
    [503, '{"code":5}'],
  ])('with %s %s changes nothing', (status, body) => {
    expect(classified(status, body, wait)).not.toHaveProperty('waitMs');
  });

  test('may be missing: 429 still slows down, 503 does not', () => {
    expect(classified(429)).toMatchObject({ class: 'slow-down' });
    expect(classified(429)).not.toHaveProperty('waitMs');
    expect(classified(503)).toMatchObject({ class: 'retry' });
  });
});

test.each([
  ['is the server’s own message', 400, '{"message":"title too long"}', 'title too long'],
  ['says that the server gives no reason', 500, '{}', 'The server answered 500 without saying why'],
  ['names an HTML page', 502, '<title>Bad</title>', 'The server answered 502 with an HTML page ("Bad")'],
  ['says that the token is refused', 401, '{"message":"expired"}', 'The API rejected the token: expired'],
  ['never contains the token', 403, '{"message":"my-secret may not"}', '[token] may not'],
])('the message %s', (_, status, body, message) => {
  expect(classified(status, body).message).toBe(message);
});
