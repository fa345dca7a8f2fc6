import { describe, expect, test } from 'vitest';
import { clientOf, deadUrl, httpServer, restore } from './local-server.ts';

const fields = { 'RateLimit-Policy': '"burst";q=100;w=60', RateLimit: '"burst";r=7;t=12' };
const burst = {
  name: 'burst',
  quota: 100,
  windowMs: 60_000,
  remaining: 7,
  resetMs: 12_000,
  unit: 'requests',
};

describe('what an answer says of limits comes with', () => {
  test.each([
    ['a success', 200, '{}'],
    ['a success without JSON', 200, '<html>'],
    ['a redirect', 307, ''],
    ['a refusal', 400, '{"code":3}'],
    ['a request to slow down', 429, '{"code":8}'],
    ['a failure of the server', 503, ''],
  ])('%s', async (_, status, body) => {
    const server = await httpServer((response) => void response.writeHead(status, fields).end(body));
    const answer = await clientOf(server.url).send(restore);
    expect(answer).toMatchObject({ ok: body === '{}', requests: 1 });
    expect(answer.limits).toEqual([burst]);
  });

  test('the second request, when the token was read again', async () => {
    const server = await httpServer((response, { headers }) => {
      const isFresh = headers.authorization === 'Bearer fresh';
      response.writeHead(isFresh ? 200 : 401, { 'X-RateLimit-Remaining': isFresh ? '8' : '9' }).end('{}');
    });
    const token = { current: async () => 'stale', refresh: async () => 'fresh' };
    expect(await clientOf(server.url, { token }).send(restore)).toMatchObject({
      ok: true,
      requests: 2,
      limits: [{ name: 'x-ratelimit', remaining: 8 }],
    });
  });

  test('the first request, when the token cannot be read again', async () => {
    const server = await httpServer((response) => void response.writeHead(401, fields).end('{}'));
    const token = {
      current: async () => 'stale',
      refresh: () => Promise.reject(new Error('no token')),
    };
    expect(await clientOf(server.url, { token }).send(restore)).toMatchObject({
      failure: { code: 'TOKEN_UNREADABLE' },
      requests: 1,
      limits: [burst],
    });
  });
});

describe('nothing of limits comes', () => {
  test('with an answer that does not mention them', async () => {
    const server = await httpServer((response) => void response.writeHead(200).end('{}'));
    expect(await clientOf(server.url).send(restore)).not.toHaveProperty('limits');
  });

  test('without an answer', async () => {
    expect(await clientOf(await deadUrl()).send(restore)).not.toHaveProperty('limits');
  });

  test('with an answer that is cut off', async () => {
    const server = await httpServer((response) => {
      response.writeHead(200, { ...fields, 'content-length': '100' });
      response.write('{', () => response.destroy());
    });
    const answer = await clientOf(server.url).send(restore);
    expect(answer).toMatchObject({ ok: false, failure: { code: 'ANSWER_CUT_OFF' } });
    expect(answer).not.toHaveProperty('limits');
  });

  test('from a closed client', async () => {
    const client = clientOf(await deadUrl());
    await client.close();
    expect(await client.send(restore)).not.toHaveProperty('limits');
  });
});
