import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { AnswerParts } from '../../../src/engine/api/answer-json.ts';
import type { ClientOptions } from '../../../src/engine/api/client.ts';
import type { TokenSource } from '../../../src/engine/api/token/token.ts';
import { callTo, clientOf, deadUrl, endOf, httpServer, restore } from './local-server.ts';

const json = (response: ServerResponse, body = '{"ok":true}'): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
};

describe('a call that is answered', () => {
  test('is sent as POST with token, content type and the exact body', async () => {
    const server = await httpServer((response) => json(response));
    const answer = await callTo(server.url, { userAgent: 'test/1' });
    const figures = { requests: 1, durationMs: expect.any(Number) };
    expect(answer).toEqual({ ok: true, status: 200, body: { ok: true }, ...figures });
    expect(server.seen).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/api/restore', body: restore.body });
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
      'user-agent': 'test/1',
    });
  });

  test('is sent with its method, and without a type when it has no body', async () => {
    const server = await httpServer((response) => void response.writeHead(204).end());
    const answer = await clientOf(server.url).send({ method: 'DELETE', path: '/calls/1?by=u', body: '' });
    expect(answer).toMatchObject({ ok: true, status: 204, body: null });
    expect(server.seen).toMatchObject([{ method: 'DELETE', path: '/calls/1?by=u', body: '' }]);
    expect(server.seen[0]?.headers).not.toHaveProperty('content-type');
  });

  test('keeps the path prefix of the base URL', async () => {
    const server = await httpServer((response) => json(response));
    await clientOf(`${server.url}/gateway/v2/`).send(restore);
    expect(server.seen[0]?.path).toBe('/gateway/v2/api/restore');
  });

  test('decodes UTF-8 that is split between packets, and drops a byte order mark', async () => {
    const server = await httpServer((response) => {
      const bytes = Buffer.from('\uFEFF{"title":"😀"}');
      response.writeHead(200);
      response.write(bytes.subarray(0, 15), () => response.end(bytes.subarray(15)));
    });
    expect(await callTo(server.url)).toMatchObject({ ok: true, body: { title: '😀' } });
  });

  test('uses no more connections than allowed', async () => {
    const server = await httpServer((response) => setImmediate(() => json(response)));
    const client = clientOf(server.url, { connections: 2 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.send(restore)));
    expect(answers.every((answer) => answer.ok && answer.requests === 1)).toBe(true);
    expect(new Set(server.seen.map(({ socket }) => socket.remotePort)).size).toBe(2);
  });
});

describe('an answer that is taken part by part', () => {
  const read = async (url: string, options: Partial<ClientOptions> = {}) => {
    const parts = new AnswerParts();
    const sending = clientOf(url, options).send(restore, { into: parts });
    const text = Buffer.concat(await parts.bytes.toArray()).toString();
    return { text, answer: await sending };
  };

  test('has no body of its own, whatever its size', async () => {
    const body = JSON.stringify('x'.repeat(5000));
    const server = await httpServer((response) => json(response, body));
    const { text, answer } = await read(server.url, { maxAnswerBytes: 4096 });
    expect(text).toBe(body);
    expect(answer).toMatchObject({ ok: true, status: 200, body: null });
  });

  test('is only that of a success, also with another token', async () => {
    const server = await httpServer((response, { headers }) => {
      if (headers.authorization === 'Bearer new') json(response);
      else response.writeHead(401).end('{"message":"old"}');
    });
    const token: TokenSource = { current: async () => 'old', refresh: async () => 'new' };
    const { text, answer } = await read(server.url, { token });
    expect({ text, end: endOf(answer) }).toEqual({ text: '{"ok":true}', end: 'ok, requests: 2' });
    const refusing = await httpServer((response) => void response.writeHead(400).end('{"message":"why"}'));
    const refused = await read(refusing.url);
    expect(refused).toMatchObject({ text: '', answer: { ok: false, failure: { message: 'why' } } });
  });

  test('ends early where the connection is lost, and the failure says so', async () => {
    const server = await httpServer((response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"ok"', () => response.destroy());
    });
    const { text, answer } = await read(server.url);
    expect({ text, end: endOf(answer) }).toEqual({
      text: '{"ok"',
      end: 'retry ANSWER_CUT_OFF 200 unclear, requests: 1',
    });
  });
});

test('a redirect is not followed, and the token does not go to the other host', async () => {
  const other = await httpServer((response) => json(response));
  const server = await httpServer((response) => {
    response.writeHead(307, { location: `${other.url}/elsewhere?x=1` }).end();
  });
  const answer = await callTo(server.url);
  expect(endOf(answer)).toBe('halt-early HTTP_REDIRECT 307, requests: 1');
  const message = `The server redirects to ${other.url} (307), and redirects are not followed: fix the base URL (--base-url)`;
  expect(answer).toMatchObject({ failure: { message } });
  expect(other.seen).toHaveLength(0);
});

test('an answer that is larger than the limit is unclear', async () => {
  const server = await httpServer((response) => json(response, JSON.stringify('x'.repeat(5000))));
  const answer = await callTo(server.url, { maxAnswerBytes: 4096 });
  expect(endOf(answer)).toBe('retry ANSWER_TOO_LARGE 200 unclear, requests: 1');
});

const fields = { 'RateLimit-Policy': '"burst";q=100;w=60', RateLimit: '"burst";r=7;t=12' };
const windows = { quota: 100, windowMs: 60_000, remaining: 7, resetMs: 12_000 };
const burst = { name: 'burst', ...windows, unit: 'requests' };

test.each([
  ['a success', 200, '{}'],
  ['a refusal', 400, '{"code":3}'],
])('the limits that an answer states come with %s', async (_, status, body) => {
  const server = await httpServer((response) => void response.writeHead(status, fields).end(body));
  const answer = await callTo(server.url);
  expect(answer).toMatchObject({ ok: body === '{}', requests: 1 });
  expect(answer.limits).toEqual([burst]);
});

test('a waiting time that is ignored comes with the answer, safe to be logged', async () => {
  const headers = { 'Retry-After': `my-secret\u009b31m ${'9'.repeat(400)}`, 'X-RateLimit-Reset': '1e20' };
  const server = await httpServer((response) => void response.writeHead(429, headers).end('{}'));
  const { ignoredWaits = new Map() } = await callTo(server.url, { token: 'my-secret' });
  expect([...ignoredWaits.keys()].toSorted()).toEqual(['Retry-After', 'X-RateLimit-Reset']);
  expect(ignoredWaits.get('Retry-After')).toMatch(/^\[token\] 9{100,}…$/);
});

describe('a signal', () => {
  test('that has already fired sends nothing', async () => {
    const server = await httpServer((response) => json(response));
    const answer = await clientOf(server.url).send(restore, { signal: AbortSignal.abort() });
    expect(endOf(answer)).toBe('aborted INTERRUPTED, requests: 0');
    expect(server.seen).toHaveLength(0);
  });

  test('that fires in flight leaves the call unclear', async () => {
    const controller = new AbortController();
    const server = await httpServer(() => controller.abort());
    const answer = await clientOf(server.url).send(restore, { signal: controller.signal });
    expect(endOf(answer)).toBe('aborted INTERRUPTED unclear, requests: 1');
  });

  test('ends the wait before a connection is tried again', async () => {
    const controller = new AbortController();
    const sending = clientOf(await deadUrl()).send(restore, { signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(endOf(await sending)).toBe('aborted INTERRUPTED, requests: 0');
  });
});

test('close lets calls under way finish and refuses later ones, and may be called twice', async () => {
  const server = await httpServer((response) => setImmediate(() => json(response)));
  const client = clientOf(server.url);
  const sending = client.send(restore);
  await client.close();
  expect(endOf(await sending)).toBe('ok, requests: 1');
  expect(endOf(await client.send(restore))).toBe('aborted CLIENT_CLOSED, requests: 0');
  await expect(client.close()).resolves.not.toThrow();
});

test('a request that HTTP cannot carry is an error of the caller', async () => {
  const client = clientOf('https://api.example.com');
  await expect(client.send({ path: '/with blank', body: '{}' })).rejects.toThrow('invalid request path');
});

test('inspecting a client shows no token, even while a call is under way', async () => {
  let shown = '';
  const server = await httpServer((response) => {
    shown = inspect(client, { showHidden: true, depth: 20 });
    json(response);
  });
  const client = clientOf(server.url);
  await client.send(restore);
  expect(shown).toContain('send');
  expect(shown).not.toContain('secret-token');
});
