import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readErrorBody } from '../../../src/engine/api/classify.ts';

describe('readErrorBody', () => {
  test.each([
    ['a named code', '{"code":"not_found","message":"m"}', 'json NOT_FOUND m'],
    ['a gateway body', '{"error":"m","code":9,"message":"m"}', 'json FAILED_PRECONDITION m'],
    ['a Google error', '{"error":{"code":404,"status":"NOT_FOUND","message":"m"}}', 'json NOT_FOUND m'],
    ['a Google error without status', '{"error":{"code":404,"message":"m"}}', 'json - m'],
    ['a status name at the top level', '{"status":"UNAVAILABLE","message":"m"}', 'json UNAVAILABLE m'],
    ['a problem document', '{"type":"about:blank","title":"t","status":404,"detail":"d"}', 'json - d'],
    ['a problem document with a code', '{"title":"t","status":404,"code":"not_found"}', 'json NOT_FOUND t'],
    ['an OAuth error', '{"error":"invalid","error_description":"expired"}', 'json - invalid: expired'],
    ['errors of GraphQL', '{"errors":[{"message":"m","extensions":{"code":"NOT_FOUND"}},{}]}', 'json - m'],
    ['errors of JSON:API', '{"errors":[{"status":"422","code":"5","title":"t","detail":"d"}]}', 'json - d'],
    ['a list of texts', '{"errors":["m"]}', 'json - m'],
    ['a name as the error', '{"error":"unavailable"}', 'json UNAVAILABLE unavailable'],
    ["a code of the service's own", '{"code":"NOT_DELETED","message":"m"}', 'json - NOT_DELETED: m'],
    ['only a code of its own', '{"code":"NOT_DELETED"}', 'json - NOT_DELETED'],
    ['an HTTP status as the code', '{"code":404,"message":"m"}', 'json - m'],
    ['odd types', '{"code":{},"message":[],"error":null,"detail":7}', 'json - '],
    ['a __proto__ key', '{"__proto__":{"message":"m","code":5}}', 'json - '],
    ['plain text', ' not found \n', 'text - not found'],
    ['an HTML page', '<!doctype html><html><head><TITLE>502 Bad\nGateway</TITLE>', 'html - 502 Bad\nGateway'],
    ['nothing', ' \r\n', 'empty - '],
  ])('reads %s', (_, text, content) => {
    const { kind, code = '-', message } = readErrorBody(text);
    expect(`${kind} ${code} ${message}`).toBe(content);
  });

  test('reads any text without throwing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(typeof readErrorBody(text).message).toBe('string');
        const { message } = readErrorBody(`{"error":${text},"code":${text},"message":${text}}`);
        expect(typeof message).toBe('string');
      }),
    );
  });

  test('refuses hostile nesting without crashing', () => {
    expect(readErrorBody('{"a":'.repeat(200_000)).kind).toBe('text');
  });
});
