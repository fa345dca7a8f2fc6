import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { interpret } from '../../../src/engine/api/answer.ts';
import type { AnswerHeaders } from '../../../src/engine/api/headers.ts';
import { createTokenMask } from '../../../src/engine/api/token/token-mask.ts';
import { callTo, endOf, httpServer } from './local-server.ts';

const interpreted = (status: number, body: string, headers: AnswerHeaders = {}) =>
  interpret({ status, headers, body }, { now: 0, mask: createTokenMask('my-secret') });

/** Redirects, and whether the server may have made the change before it redirects. */
const redirects = [
  [301, false],
  [302, true],
  [303, true],
  [307, false],
  [308, false],
] as const;

describe('interpret', () => {
  test.each([200, 201, 202, 206, 299])('takes the JSON of a %i as the answer', (status) => {
    expect(interpreted(status, '{"id":9007199254740993}')).toEqual({
      ok: true,
      status,
      body: { id: 9007199254740993n },
    });
  });

  const deep = '['.repeat(100_000);
  test.each([
    ['nothing', '', 'with nothing instead of JSON'],
    [
      'an HTML page with the token',
      '<html>\n<b>my-secret</b>\u001b[31m\n</html>',
      'with an HTML page instead of JSON: "<html> <b>[token]</b> </html>"',
    ],
    ['text', 'OK', `not with JSON (JSON value expected but got 'O' at position 0): "OK"`],
    [
      'hostile nesting',
      deep,
      `not with JSON (JSON is nested deeper than 512 levels at position 512): "${deep.slice(0, 200)}…"`,
    ],
  ])('treats a 200 with %s as a change that was probably made, and says what came', (_, body, what) => {
    const message = `The server answered 200, but ${what}`;
    expect(interpreted(200, body)).toEqual({
      ok: false,
      failure: { class: 'retry', code: 'ANSWER_NOT_JSON', message, status: 200, unclear: true },
    });
  });

  test.each([
    ['numbers that JSON does not have', '{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \\" Infinity"}'],
    ['a prefix against scripts', `)]}',\n{"a":null,"b":[null,null],"c":"NaN \\" Infinity"}`],
  ])('reads %s', (_, body) => {
    expect(interpreted(200, body)).toMatchObject({
      ok: true,
      body: { a: null, b: [null, null], c: 'NaN " Infinity' },
    });
  });

  test('reads no word that only looks like such a number', () => {
    expect(interpreted(200, '{"a":NaNs}').ok).toBe(false);
    expect(interpreted(200, `{"a":NaN`).ok).toBe(false);
  });

  test.each([
    ['another host', { location: 'https://login.example.com/x?token=1' }, ' to https://login.example.com'],
    ['a hostile location', { location: 'https://x\u001b[31m.example.com' }, ' to another path'],
    ['a host with the token', { location: 'https://my-secret.x/' }, ' to https://[token].x'],
  ])('does not follow a redirect to %s', (_, headers: AnswerHeaders, target) => {
    for (const [status, unclear] of redirects) {
      const message = `The server redirects${target} (${status}), and redirects are not followed: fix the base URL (--base-url)`;
      expect(interpreted(status, '{}', headers)).toEqual({
        ok: false,
        failure: { class: 'halt-early', code: 'HTTP_REDIRECT', message, status, unclear },
      });
    }
  });

  test.each([300, 304])('takes %d, which is no answer to a change, for unclear', (status) => {
    const message = `The server answered ${status}, which is no answer to a change: check the base URL (--base-url)`;
    expect(interpreted(status, '')).toEqual({
      ok: false,
      failure: { class: 'halt-early', code: 'HTTP_REDIRECT', message, status, unclear: true },
    });
  });

  test('hides the token in a 2xx', () => {
    expect(interpreted(200, '{"id":1,"agent":"Bearer my-secret","n":["my\\u002dsecret"]}')).toMatchObject({
      body: { id: 1, agent: 'Bearer [token]', n: ['[token]'] },
    });
  });
});

/** The client's reading of an answer with this body. */
async function answerTo(
  status: number,
  headers: Readonly<Record<string, string | string[]>>,
  body: Buffer | string,
  maxAnswerBytes?: number,
) {
  const server = await httpServer((response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  return callTo(server.url, { maxAnswerBytes });
}

const done = '{"id":9223372036854775807,"title":"é😀"}';

describe('a compressed 2xx', () => {
  test.each([
    ['two in two header lines', { 'content-encoding': ['gzip', 'br'] }, brotliCompressSync(gzipSync(done))],
    ['nothing, because a proxy decompressed it and left the header', { 'content-encoding': 'gzip' }, done],
  ])('by %s is read', async (_title, headers, body) => {
    expect(await answerTo(200, headers, body)).toMatchObject({
      ok: true,
      body: { id: 9223372036854775807n, title: 'é😀' },
    });
  });

  test.each([
    ['ENCODING_UNKNOWN', 'zstd', Buffer.of(0x28, 0xb5, 0x2f, 0xfd), "doesn't support (zstd: not asked for)"],
    ['ENCODING_BROKEN', 'gzip', gzipSync(done).subarray(0, 40), '(gzip: unexpected end of file)'],
    ['TOO_LARGE', 'br', brotliCompressSync(' '.repeat(2 ** 22)), 'bytes become more than 1048576'],
    ['NOT_JSON', 'gzip', gzipSync('{"id":'), 'at position 6'],
  ])('that is %s is unclear', async (code, encoding, body, said) => {
    const answer = await answerTo(200, { 'content-encoding': encoding }, body);
    expect(endOf(answer)).toBe(`retry ANSWER_${code} 200 unclear, requests: 1`);
    expect(answer).toMatchObject({ failure: { message: expect.stringContaining(said) } });
  });

  test('quotes neither the token nor control characters of its header', async () => {
    const answer = await answerTo(200, { 'content-encoding': 'x\tsecret-token' }, 'x');
    expect(answer).toMatchObject({
      failure: { message: expect.stringContaining('(x [token]: not asked for)') },
    });
  });
});

test.each(['slow-down RESOURCE_EXHAUSTED 429', 'halt UNAUTHENTICATED 401', 'retry BAD_GATEWAY 502 unclear'])(
  'a compressed error that cannot be decompressed means what its status says: %s',
  async (meaning) => {
    const headers = { 'content-encoding': 'zstd', 'retry-after': '7' };
    const status = Number(/\d+/.exec(meaning)?.[0]);
    const answer = await answerTo(status, headers, Buffer.from([1, 2, 3]));
    expect(endOf(answer)).toBe(`${meaning}, requests: 1`);
    const message = expect.stringMatching(/ \(its body has an encoding .* \(zstd: not asked for\)\)$/);
    expect(answer).toMatchObject({ failure: { message } });
  },
);
