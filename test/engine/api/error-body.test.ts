import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readErrorBody } from '../../../src/engine/api/classify.ts';

describe('readErrorBody', () => {
  test.each<[string, string, string, string | undefined, string]>([
    [
      'a numeric code',
      '{"code":5,"message":"no such evaluation","details":[]}',
      'json',
      'NOT_FOUND',
      'no such evaluation',
    ],
    ['a code as text', '{"code":"5","message":"m"}', 'json', 'NOT_FOUND', 'm'],
    ['a named code', '{"code":"not_found","message":"m"}', 'json', 'NOT_FOUND', 'm'],
    ['a camelCase code', '{"code":"notFound","message":"m"}', 'json', 'NOT_FOUND', 'm'],
    ['a gateway body', '{"error":"m","code":9,"message":"m"}', 'json', 'FAILED_PRECONDITION', 'm'],
    ['a Google error', '{"error":{"code":404,"status":"NOT_FOUND","message":"m"}}', 'json', 'NOT_FOUND', 'm'],
    ['a Google error without status', '{"error":{"code":404,"message":"m"}}', 'json', undefined, 'm'],
    ['a nested numeric code', '{"error":{"code":7,"message":"m"}}', 'json', 'PERMISSION_DENIED', 'm'],
    ['a status name at the top level', '{"status":"UNAVAILABLE","message":"m"}', 'json', 'UNAVAILABLE', 'm'],
    [
      'a problem document',
      '{"type":"about:blank","title":"Not Found","status":404,"detail":"d"}',
      'json',
      undefined,
      'd',
    ],
    ['a problem document whose status looks like a code', '{"title":"t","status":5}', 'json', undefined, 't'],
    [
      'a problem document with a code',
      '{"title":"t","status":404,"code":"not_found"}',
      'json',
      'NOT_FOUND',
      't',
    ],
    [
      'an OAuth error',
      '{"error":"invalid_token","error_description":"expired"}',
      'json',
      undefined,
      'invalid_token: expired',
    ],
    ['a name as the error', '{"error":"unavailable"}', 'json', 'UNAVAILABLE', 'unavailable'],
    [
      "a code of the service's own",
      '{"code":"EVAL_NOT_DELETED","message":"m"}',
      'json',
      undefined,
      'EVAL_NOT_DELETED: m',
    ],
    ['only a code of its own', '{"code":"EVAL_NOT_DELETED"}', 'json', undefined, 'EVAL_NOT_DELETED'],
    ['a JSend body', '{"status":"error","message":"m"}', 'json', undefined, 'm'],
    ['an HTTP status as the code', '{"code":404,"message":"m"}', 'json', undefined, 'm'],
    ['code 0', '{"code":0,"message":"m"}', 'json', undefined, 'm'],
    ['a huge code', '{"code":99999999999999999999,"message":"m"}', 'json', undefined, 'm'],
    ['an empty object', '{}', 'json', undefined, ''],
    ['odd types', '{"code":{},"message":[],"error":null,"detail":7}', 'json', undefined, ''],
    ['a __proto__ key', '{"__proto__":{"message":"m","code":5}}', 'json', undefined, ''],
    ['plain text', ' not found \n', 'text', undefined, 'not found'],
    ['a JSON string', '"not found"', 'text', undefined, '"not found"'],
    ['a JSON array', '[{"code":5}]', 'text', undefined, '[{"code":5}]'],
    ['cut JSON', '{"code":5', 'text', undefined, '{"code":5'],
    [
      'an HTML page',
      '<!doctype html><html><head><TITLE>502 Bad\nGateway</TITLE>',
      'html',
      undefined,
      '502 Bad\nGateway',
    ],
    ['an HTML page without a title', '<h1>x</h1>', 'html', undefined, ''],
    ['nothing', ' \r\n', 'empty', undefined, ''],
  ])('reads %s', (_, text, kind, code, message) => {
    const body = readErrorBody(text);
    expect([body.kind, body.code, body.message]).toEqual([kind, code, message]);
  });

  test('reads any text without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(typeof readErrorBody(text).message).toBe('string');
        expect(typeof readErrorBody(`{"error":${text},"code":${text},"message":${text}}`).message).toBe(
          'string',
        );
      }),
    );
  });

  test('refuses hostile nesting without crashing', () => {
    expect(readErrorBody('{"a":'.repeat(200_000)).kind).toBe('text');
  });
});
