import { describe, expect, test } from 'vitest';
import { interpret } from '../../src/api/answer.ts';
import type { AnswerHeaders } from '../../src/api/headers.ts';
import { createTokenMask } from '../../src/api/token-mask.ts';

const interpreted = (status: number, body: string, headers: AnswerHeaders = {}) =>
  interpret({ status, headers, body }, { now: 0, mask: createTokenMask('my-secret') });

describe('interpret', () => {
  test.each([200, 201, 202, 206, 299])('takes JSON of a %i for the answer', (status) => {
    expect(interpreted(status, '{"id":9007199254740993}')).toEqual({
      ok: true,
      status,
      body: { id: 9007199254740993n },
    });
  });

  test.each([
    ['nothing', '', 'The server answered 200, but not with JSON: nothing'],
    ['an HTML page', '<html>', 'The server answered 200, but not with JSON: an HTML page'],
    [
      'cut JSON',
      '{"a":[1,',
      'The server answered 200, but not with JSON: Array item expected but reached end of input at position 8',
    ],
    [
      'text',
      'OK',
      "The server answered 200, but not with JSON: JSON value expected but got 'O' at position 0",
    ],
    [
      'hostile nesting',
      '['.repeat(100_000),
      'The server answered 200, but not with JSON: JSON is nested deeper than 512 levels at position 512',
    ],
  ])('takes %s in a 200 for a change that was probably made', (_, body, message) => {
    expect(interpreted(200, body)).toEqual({
      ok: false,
      failure: { class: 'retry', code: 'ANSWER_NOT_JSON', message, status: 200, unclear: true },
    });
  });

  test.each([
    ['another host', { location: 'https://login.example.com/x?token=1' }, ' to https://login.example.com'],
    ['another path', { location: '/login' }, ' to another path'],
    ['nowhere', {}, ''],
    ['a hostile place', { location: 'https://x\u001b[31m.example.com' }, ' to another path'],
    [
      'a place with the token',
      { location: 'https://my-secret.example.com/' },
      ' to https://[token].example.com',
    ],
  ])('does not follow a redirect to %s', (_, headers: AnswerHeaders, target) => {
    for (const status of [300, 301, 302, 303, 304, 307, 308]) {
      const message = `The server redirects${target} (${status}), and redirects are not followed: fix the base URL (--base-url)`;
      expect(interpreted(status, '{}', headers)).toEqual({
        ok: false,
        failure: { class: 'halt-early', code: 'HTTP_REDIRECT', message, status, unclear: false },
      });
    }
  });

  test('hides the token in what a 2xx says', () => {
    expect(interpreted(200, '{"id":1,"agent":"Bearer my-secret","n":["my\\u002dsecret"]}')).toMatchObject({
      body: { id: 1, agent: 'Bearer [token]', n: ['[token]'] },
    });
  });

  test('classifies errors', () => {
    expect(interpreted(404, '{"code":5,"message":"m"}')).toMatchObject({
      ok: false,
      failure: { code: 'NOT_FOUND' },
    });
  });
});
