import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../../../src/domain/codes.ts';
import { classify } from '../../../src/engine/api/classify.ts';
import type { ApiFailure } from '../../../src/engine/api/failure.ts';
import type { AnswerHeaders } from '../../../src/engine/api/headers.ts';
import { createTokenMask } from '../../../src/engine/api/server-text.ts';

const now = Date.parse('2024-05-01T12:00:00Z');

function classified(status: number, body = '{"message":"m"}', headers: AnswerHeaders = {}): ApiFailure {
  return classify({ status, headers, body }, { now, mask: createTokenMask('my-secret') });
}

const clear = false;
const unclear = true;

/** The codes of `google/rpc/code.proto` from 1. */
const codes: readonly [string, FailureClass, boolean][] = [
  ['CANCELLED', 'retry', unclear],
  ['UNKNOWN', 'retry', unclear],
  ['INVALID_ARGUMENT', 'permanent', clear],
  ['DEADLINE_EXCEEDED', 'retry', unclear],
  ['NOT_FOUND', 'permanent', clear],
  ['ALREADY_EXISTS', 'permanent', clear],
  ['PERMISSION_DENIED', 'halt-early', clear],
  ['RESOURCE_EXHAUSTED', 'retry', clear],
  ['FAILED_PRECONDITION', 'permanent', clear],
  ['ABORTED', 'retry', clear],
  ['OUT_OF_RANGE', 'permanent', clear],
  ['UNIMPLEMENTED', 'permanent', clear],
  ['INTERNAL', 'retry', unclear],
  ['UNAVAILABLE', 'retry', unclear],
  ['DATA_LOSS', 'permanent', unclear],
  ['UNAUTHENTICATED', 'halt', clear],
];

describe('a canonical code in the body', () => {
  test.each(codes)('%s is %s, unclear: %s, whatever the HTTP status', (code, failureClass, isUnclear) => {
    const number = 1 + codes.findIndex(([name]) => name === code);
    for (const body of [
      `{"code":${number},"message":"m"}`,
      `{"code":"${code.toLowerCase()}","message":"m"}`,
      `{"error":{"code":400,"status":"${code}","message":"m"}}`,
    ]) {
      for (const status of [400, 404, 409, 418, 500, 502, 503]) {
        expect(classified(status, body)).toMatchObject({
          class: failureClass,
          code,
          status,
          unclear: isUnclear,
        });
      }
    }
  });

  test.each([5, 7, 14])('does not outweigh a 429: code %i', (code) => {
    expect(classified(429, `{"code":${code},"message":"m"}`)).toMatchObject({
      class: 'slow-down',
      code: 'RESOURCE_EXHAUSTED',
    });
  });

  test('does not outweigh a 401', () => {
    expect(classified(401, '{"code":7,"message":"m"}')).toMatchObject({
      class: 'halt',
      code: 'UNAUTHENTICATED',
    });
  });
});

describe('an HTTP status without a canonical code', () => {
  test.each<[number, FailureClass, string, boolean]>([
    [400, 'permanent', 'INVALID_ARGUMENT', clear],
    [401, 'halt', 'UNAUTHENTICATED', clear],
    [402, 'permanent', 'HTTP_402', clear],
    [403, 'halt-early', 'PERMISSION_DENIED', clear],
    [404, 'permanent', 'NOT_FOUND', clear],
    [405, 'permanent', 'UNIMPLEMENTED', clear],
    [407, 'permanent', 'HTTP_407', clear],
    [408, 'retry', 'REQUEST_TIMEOUT', clear],
    [409, 'permanent', 'CONFLICT', clear],
    [410, 'permanent', 'HTTP_410', clear],
    [412, 'permanent', 'FAILED_PRECONDITION', clear],
    [413, 'permanent', 'HTTP_413', clear],
    [415, 'permanent', 'HTTP_415', clear],
    [422, 'permanent', 'INVALID_ARGUMENT', clear],
    [425, 'retry', 'TOO_EARLY', clear],
    [429, 'slow-down', 'RESOURCE_EXHAUSTED', clear],
    [499, 'retry', 'CANCELLED', unclear],
    [500, 'retry', 'INTERNAL', unclear],
    [501, 'permanent', 'UNIMPLEMENTED', clear],
    [502, 'retry', 'BAD_GATEWAY', unclear],
    [503, 'retry', 'UNAVAILABLE', unclear],
    [504, 'retry', 'DEADLINE_EXCEEDED', unclear],
    [507, 'retry', 'HTTP_507', unclear],
    [520, 'retry', 'HTTP_520', unclear],
    [599, 'retry', 'HTTP_599', unclear],
    [600, 'permanent', 'HTTP_600', unclear],
    [999, 'permanent', 'HTTP_999', unclear],
  ])('%i is %s %s, unclear: %s', (status, failureClass, code, isUnclear) => {
    for (const body of [
      '{"message":"m"}',
      '{"type":"about:blank","title":"m","status":400}',
      '{"code":404,"message":"m"}',
    ]) {
      expect(classified(status, body)).toMatchObject({
        class: failureClass,
        code,
        status,
        unclear: isUnclear,
      });
    }
  });

  test.each([
    ['an HTML page', '<html><title>Oops</title></html>', 'with an HTML page ("Oops")'],
    ['plain text', '404 page not found', 'with text ("404 page not found")'],
    ['nothing', '', 'with nothing'],
  ])('a 404, 405 or 501 with %s suggests checking the base URL', (_, body, message) => {
    for (const [status, code] of [
      [404, 'NOT_FOUND'],
      [405, 'UNIMPLEMENTED'],
      [501, 'UNIMPLEMENTED'],
    ] as const) {
      const failure = classified(status, body);
      expect(failure).toMatchObject({ class: 'halt-early', code, status, unclear: false });
      expect(failure.message).toBe(
        `The server answered ${status} ${message} instead of JSON: check the base URL (--base-url) and its path prefix`,
      );
    }
  });

  test('every status from 400 to 599 has a class, a code and a message', () => {
    for (let status = 400; status < 600; status++) {
      const failure = classified(status, '');
      expect(failure.code).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(failure.message).not.toBe('');
    }
  });
});

describe('the code of a router', () => {
  test.each([
    ['a gateway', 404, '{"code":5,"message":"Not Found","details":[]}'],
    ['an older gateway', 404, '{"error":"Not Found","code":5,"message":"Not Found"}'],
    ['a gateway for another method', 501, '{"code":12,"message":"Method Not Allowed","details":[]}'],
    ['a framework for another method', 405, '{"detail":"Method Not Allowed"}'],
    ['Connect for another method', 405, ''],
    ['Kong', 404, '{"message":"no Route matched with those values"}'],
    ['Cloud Endpoints', 404, '{"code":5,"message":"The current request is not defined by this API."}'],
    ['Nest', 404, '{"message":"Cannot POST /api/restore","error":"Not Found","statusCode":404}'],
    ['Fastify', 404, '{"message":"Route POST:/api/restore not found","error":"Not Found","statusCode":404}'],
    ['a load balancer for another method', 405, '<html><title>405 Not Allowed</title></html>'],
  ])('is that of a wrong path: %s', (_, status, body) => {
    const failure = classified(status, body);
    expect(failure).toMatchObject({ class: 'halt-early', code: 'UNIMPLEMENTED', status, unclear: false });
    expect(failure.message).toMatch(/^The server answered \d+ with .*: check the base URL \(--base-url\)/);
  });

  test.each([
    ['an operation', 404, '{"code":5,"message":"evaluation 7 not found","details":[]}', 'NOT_FOUND'],
    ['an operation of Connect', 404, '{"code":"not_found","message":"Not Found"}', 'NOT_FOUND'],
    ['a service without codes', 404, '{"message":"Not Found","documentation_url":"u"}', 'NOT_FOUND'],
    [
      'an operation with a reason',
      404,
      '{"code":5,"message":"Not Found","details":[{"@type":"google.rpc.ErrorInfo","reason":"EVALUATION_UNKNOWN"}]}',
      'NOT_FOUND',
    ],
    [
      'an operation that is not built',
      501,
      '{"code":12,"message":"not available for e-mail"}',
      'UNIMPLEMENTED',
    ],
    ['a refusal', 400, '{"code":3,"message":"Not Found"}', 'INVALID_ARGUMENT'],
  ])('is not that of %s', (_, status, body, code) => {
    expect(classified(status, body)).toMatchObject({ class: 'permanent', code });
  });
});

describe('a waiting time', () => {
  const wait = { 'retry-after': '30' };

  test.each<[string, number, string, FailureClass, boolean]>([
    ['429', 429, '{}', 'slow-down', clear],
    ['503', 503, '{}', 'slow-down', clear],
    ['503 with an HTML page', 503, '<html></html>', 'slow-down', clear],
    ['503 INTERNAL', 503, '{"code":13}', 'slow-down', clear],
    ['500 UNAVAILABLE', 500, '{"code":14}', 'slow-down', clear],
    ['400 RESOURCE_EXHAUSTED', 400, '{"code":8}', 'slow-down', clear],
    ['500', 500, '{}', 'retry', unclear],
    ['502', 502, '{}', 'retry', unclear],
    ['408', 408, '{}', 'retry', clear],
  ])('with %s is used', (_, status, body, failureClass, isUnclear) => {
    expect(classified(status, body, wait)).toMatchObject({
      class: failureClass,
      waitMs: 30_000,
      unclear: isUnclear,
    });
  });

  test.each([
    ['400', 400, '{}'],
    ['403', 403, '{}'],
    ['503 NOT_FOUND', 503, '{"code":5}'],
  ])('with %s changes nothing', (_, status, body) => {
    expect(classified(status, body, wait)).not.toHaveProperty('waitMs');
  });

  test('may be missing: 429 still slows down, 503 does not', () => {
    expect(classified(429)).toMatchObject({ class: 'slow-down' });
    expect(classified(429)).not.toHaveProperty('waitMs');
    expect(classified(503)).toMatchObject({ class: 'retry' });
  });

  test('may be in the details of the body', () => {
    const body =
      '{"code":8,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}';
    expect(classified(429, body)).toMatchObject({ class: 'slow-down', waitMs: 1500 });
  });
});

describe('the message', () => {
  test.each([
    ['is the server’s own message', 400, '{"message":"title too long"}', 'title too long'],
    ['says that the server gives no reason', 500, '{}', 'The server answered 500 without saying why'],
    [
      'names an HTML page by its title',
      502,
      '<title>Bad Gateway</title>',
      'The server answered 502 with an HTML page ("Bad Gateway")',
    ],
    ['is plain text, unchanged', 409, 'in use', 'in use'],
    ['says that the token is refused', 401, '{"message":"expired"}', 'The API refuses the token: expired'],
    ['says so even without a reason', 401, '', 'The API refuses the token'],
    ['is one clean line', 400, '{"message":"a\\n\\u001b[31mb\\u0000"}', 'a b'],
    ['never contains the token', 403, '{"message":"my-secret may not"}', '[token] may not'],
  ])('%s', (_, status, body, message) => {
    expect(classified(status, body).message).toBe(message);
  });

  test('is cut', () => {
    expect(classified(400, JSON.stringify({ message: 'x'.repeat(10_000) })).message).toHaveLength(300);
  });
});
