import { EventEmitter } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf, deadUrl, httpServer, listen, restore, socketServer } from './local-server.ts';
import { selfSigned } from './self-signed.ts';

const json = (response: ServerResponse, body = '{"ok":true}', status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
};

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n';

const complete = 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"ok":true}';

describe('a call that is answered', () => {
  test('goes out as POST with token, content type and the exact body', async () => {
    const server = await httpServer((response) => json(response));
    const answer = await clientOf(server.url, { userAgent: 'test/1' }).send(restore);
    expect(answer).toEqual({
      ok: true,
      status: 200,
      body: { ok: true },
      requests: 1,
      durationMs: expect.any(Number),
    });
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

  test('keeps the path prefix of the base URL', async () => {
    const server = await httpServer((response) => json(response));
    await clientOf(`${server.url}/gateway/v2/`).send(restore);
    expect(server.seen[0]?.path).toBe('/gateway/v2/api/restore');
  });

  test('gives back identifiers exactly', async () => {
    const server = await httpServer((response) =>
      json(response, '{"a":9223372036854775807,"b":9007199254740993,"c":1.5}', 201),
    );
    expect(await clientOf(server.url).send(restore)).toMatchObject({
      status: 201,
      body: { a: 9223372036854775807n, b: 9007199254740993n, c: 1.5 },
    });
  });

  test('decodes UTF-8 that is split between packets, and drops a byte order mark', async () => {
    const server = await httpServer((response) => {
      const bytes = Buffer.from('\uFEFF{"title":"😀"}');
      response.writeHead(200);
      response.write(bytes.subarray(0, 15), () => response.end(bytes.subarray(15)));
    });
    expect(await clientOf(server.url).send(restore)).toMatchObject({ ok: true, body: { title: '😀' } });
  });

  test('keeps its connection for the next one', async () => {
    const server = await httpServer((response) => json(response));
    const client = clientOf(server.url, { connections: 1 });
    for (let call = 0; call < 3; call++) expect(await client.send(restore)).toMatchObject({ ok: true });
    expect(new Set(server.seen.map(({ socket }) => socket.remotePort)).size).toBe(1);
  });

  test('uses no more connections than it may', async () => {
    const server = await httpServer((response) => setImmediate(() => json(response)));
    const client = clientOf(server.url, { connections: 2 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.send(restore)));
    expect(answers.every((answer) => answer.ok && answer.requests === 1)).toBe(true);
    expect(new Set(server.seen.map(({ socket }) => socket.remotePort)).size).toBe(2);
  });

  test.each([
    ['102', '102 Processing\r\n\r\n'],
    ['103', '103 Early Hints\r\nlink: </x>; rel=preload\r\ncontent-encoding: gzip\r\n\r\n'],
    [
      'several',
      `102 Processing\r\n\r\nHTTP/1.1 ${'103 Early Hints\r\n\r\nHTTP/1.1 '.repeat(20)}199 Odd\r\n\r\n`,
    ],
  ])('sees past informational answers: %s, in one piece and in two', async (_, informational) => {
    for (const separate of [false, true]) {
      const url = await socketServer((socket) => {
        if (!separate) socket.write(`HTTP/1.1 ${informational}${complete}`);
        else socket.write(`HTTP/1.1 ${informational}`, () => socket.write(complete));
      });
      expect(await clientOf(url).send(restore)).toMatchObject({ ok: true, requests: 1, body: { ok: true } });
    }
  });
});

describe('an answer that is no usable one', () => {
  test.each([
    ['cut JSON', '{"evaluation":', 'at position 14'],
    ['nothing', '', 'nothing'],
    ['an HTML page', '<html><title>Sign in</title></html>', 'an HTML page'],
  ])('is unclear when a 200 has %s', async (_, body, message) => {
    const server = await httpServer((response) => json(response, body));
    const answer = await clientOf(server.url).send(restore);
    expect(answer).toMatchObject({
      ok: false,
      requests: 1,
      failure: { class: 'retry', code: 'ANSWER_NOT_JSON', status: 200, unclear: true },
    });
    expect(JSON.stringify(answer)).toContain(message);
  });

  test('is a redirect: not followed, and the token does not go to the other host', async () => {
    const other = await httpServer((response) => json(response));
    const server = await httpServer((response) => {
      response.writeHead(307, { location: `${other.url}/elsewhere?x=1` }).end();
    });
    expect(await clientOf(server.url).send(restore)).toMatchObject({
      failure: {
        class: 'halt-early',
        code: 'HTTP_REDIRECT',
        status: 307,
        unclear: false,
        message: `The server redirects to ${other.url} (307), and redirects are not followed: fix the base URL (--base-url)`,
      },
    });
    expect(other.seen).toHaveLength(0);
  });

  test('is an HTML 404: probably the wrong base URL', async () => {
    const server = await httpServer((response) => {
      response
        .writeHead(404, { 'content-type': 'text/html' })
        .end('<html><title>No such page</title></html>');
    });
    expect(await clientOf(server.url).send(restore)).toMatchObject({
      failure: {
        class: 'halt-early',
        code: 'NOT_FOUND',
        status: 404,
        message: expect.stringContaining('base URL'),
      },
    });
  });

  test('is larger than the limit', async () => {
    const server = await httpServer((response) => json(response, JSON.stringify('x'.repeat(5000))));
    expect(await clientOf(server.url, { maxAnswerBytes: 4096 }).send(restore)).toMatchObject({
      failure: { class: 'retry', code: 'ANSWER_TOO_LARGE', status: 200, unclear: true },
    });
  });

  test('asks to slow down, and says for how long', async () => {
    const server = await httpServer((response) => {
      response.writeHead(429, { 'retry-after': '7' }).end('{"code":8,"message":"quota"}');
    });
    expect(await clientOf(server.url).send(restore)).toMatchObject({
      requests: 1,
      failure: {
        class: 'slow-down',
        code: 'RESOURCE_EXHAUSTED',
        message: 'quota',
        waitMs: 7000,
        unclear: false,
      },
    });
  });
});

describe('an informational answer that undici can not skip', () => {
  test.each([
    ['100 Continue', '100 Continue\r\n\r\n'],
    ['101 Switching Protocols', '101 Switching Protocols\r\n\r\n'],
    ['101 Switching Protocols', '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ])('is told as what it is: %s', async (name, informational) => {
    const url = await socketServer((socket) => socket.write(`HTTP/1.1 ${informational}${complete}`));
    expect(await clientOf(url).send(restore)).toMatchObject({
      requests: 1,
      failure: {
        class: 'retry',
        code: 'ANSWER_INFORMATIONAL',
        message: expect.stringContaining(name),
        unclear: true,
      },
    });
  });
});

describe('a connection that does not come about', () => {
  test('is refused: tried again shortly, then class unreachable, and nothing was sent', async () => {
    expect(await clientOf(await deadUrl()).send(restore)).toMatchObject({
      ok: false,
      requests: 0,
      failure: { class: 'unreachable', code: 'CONNECTION_REFUSED', unclear: false },
    });
  });

  test('is refused at first and then accepted: the call succeeds', async () => {
    const url = await deadUrl();
    const sending = clientOf(url).send(restore);
    const server = createServer((_, response) => json(response));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), '127.0.0.1', resolve));
    expect(await sending).toMatchObject({ ok: true, requests: 1 });
  });

  test('takes too long', async () => {
    const url = await socketServer(() => {}); // Never answers the TLS handshake.
    const client = clientOf(url.replace('http:', 'https:'), { timeouts: { connectMs: 20 } });
    expect(await client.send(restore)).toMatchObject({
      requests: 0,
      failure: { class: 'unreachable', code: 'CONNECT_TIMEOUT', unclear: false },
    });
  });

  test('has a certificate that is not trusted: every other call would fail too', async () => {
    const server = createTlsServer(selfSigned, (_, response) => json(response));
    const url = (await listen(server)).replace('http:', 'https:');
    expect(await clientOf(url).send(restore)).toMatchObject({
      requests: 0,
      failure: {
        class: 'unreachable',
        code: 'TLS_ERROR',
        unclear: false,
        message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
      },
    });
  });

  test('goes to a server that speaks no TLS', async () => {
    const server = await httpServer((response) => json(response));
    expect(await clientOf(server.url.replace('http:', 'https:')).send(restore)).toMatchObject({
      requests: 0,
      failure: { class: 'unreachable', code: 'TLS_ERROR', unclear: false },
    });
  });
});

describe('a connection that is lost', () => {
  test('before the answer, by a reset', async () => {
    const url = await socketServer((socket) => socket.resetAndDestroy());
    expect(await clientOf(url).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'CONNECTION_LOST', unclear: true },
    });
  });

  test('before the answer, by an orderly end', async () => {
    const url = await socketServer((socket) => socket.end());
    expect(await clientOf(url).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'CONNECTION_LOST', unclear: true },
    });
  });

  test.each([
    ['reset', (url: { socket: import('node:net').Socket }) => url.socket.resetAndDestroy()],
    ['ended', (url: { socket: import('node:net').Socket }) => url.socket.end()],
  ])('in the middle of the answer, when it is %s', async (_, finish) => {
    const url = await socketServer((socket) =>
      socket.write(`${head}{"evaluation":`, () => finish({ socket })),
    );
    const answer = await clientOf(url).send(restore);
    expect(answer).toMatchObject({ requests: 1, failure: { class: 'retry', unclear: true } });
    if (!answer.ok) expect(['ANSWER_CUT_OFF', 'CONNECTION_LOST']).toContain(answer.failure.code);
  });

  test('in the middle of a 4xx answer: refused, so not unclear', async () => {
    const url = await socketServer((socket) => socket.end(head.replace('200 OK', '400 Bad Request')));
    expect(await clientOf(url).send(restore)).toMatchObject({
      failure: { class: 'retry', code: 'ANSWER_CUT_OFF', status: 400, unclear: false },
    });
  });

  test('by an answer that is not HTTP', async () => {
    const url = await socketServer((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    expect(await clientOf(url).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'ANSWER_NOT_HTTP', unclear: true },
    });
  });

  test('while idle: the next call takes a new one and is not sent twice', async () => {
    const server = await httpServer((response) => json(response));
    const client = clientOf(server.url);
    await client.send(restore);
    const [first] = server.seen;
    const closed = new Promise((resolve) => first?.socket.once('close', resolve));
    first?.socket.destroy();
    await closed;
    expect(await client.send(restore)).toMatchObject({ ok: true, requests: 1 });
    expect(server.seen).toHaveLength(2);
  });

  test('by a request on a kept connection: it is unclear and never sent again by itself', async () => {
    let calls = 0;
    const server = await httpServer((response, { socket }) => {
      calls++;
      if (calls === 1) json(response);
      else socket.destroy();
    });
    const client = clientOf(server.url);
    await client.send(restore);
    expect(await client.send(restore)).toMatchObject({
      requests: 1,
      failure: { code: 'CONNECTION_LOST', unclear: true },
    });
    expect(server.seen).toHaveLength(2);
  });
});

describe('a time-out', () => {
  test('of the headers is unclear', async () => {
    const server = await httpServer(() => {});
    expect(await clientOf(server.url, { timeouts: { headersMs: 20 } }).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'HEADERS_TIMEOUT', unclear: true },
    });
  });

  test('of the body is unclear', async () => {
    const server = await httpServer((response) => response.writeHead(200).write('{"a":'));
    expect(await clientOf(server.url, { timeouts: { bodyMs: 20 } }).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'BODY_TIMEOUT', status: 200, unclear: true },
    });
  });

  test('of the whole call is unclear when the request was sent', async () => {
    const server = await httpServer(() => {});
    expect(await clientOf(server.url, { timeouts: { totalMs: 100 } }).send(restore)).toMatchObject({
      requests: 1,
      failure: { class: 'retry', code: 'TOTAL_TIMEOUT', unclear: true },
    });
  });

  test('of the whole call is clear while it waits for a connection, and the request never goes out', async () => {
    const pending: ServerResponse[] = [];
    const server = await httpServer((response) => pending.push(response));
    const client = clientOf(server.url, { connections: 1, timeouts: { totalMs: 150 } });
    const blocking = client.send(restore);
    expect(await client.send({ ...restore, body: '"second"' })).toMatchObject({
      requests: 0,
      failure: { class: 'retry', code: 'TOTAL_TIMEOUT', unclear: false },
    });
    expect(await blocking).toMatchObject({ failure: { unclear: true } });
    await client.close();
    expect(server.seen.map(({ body }) => body)).toEqual([restore.body]);
  });
});

describe('a signal', () => {
  test('that fired already sends nothing', async () => {
    const server = await httpServer((response) => json(response));
    const answer = await clientOf(server.url).send(restore, { signal: AbortSignal.abort() });
    expect(answer).toMatchObject({
      requests: 0,
      failure: { class: 'aborted', code: 'INTERRUPTED', unclear: false },
    });
    expect(server.seen).toHaveLength(0);
  });

  test('that fires in flight leaves the call unclear', async () => {
    const controller = new AbortController();
    const server = await httpServer(() => controller.abort());
    expect(await clientOf(server.url).send(restore, { signal: controller.signal })).toMatchObject({
      requests: 1,
      failure: { class: 'aborted', code: 'INTERRUPTED', unclear: true },
    });
  });

  test('ends the wait before a connection is tried again', async () => {
    const controller = new AbortController();
    const sending = clientOf(await deadUrl()).send(restore, { signal: controller.signal });
    setImmediate(() => controller.abort());
    expect(await sending).toMatchObject({ requests: 0, failure: { class: 'aborted', unclear: false } });
  });

  test('leaves no listener behind, however many calls it was given to', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): unknown => warnings.push(warning);
    process.on('warning', onWarning);
    const server = await httpServer((response) => json(response));
    const client = clientOf(server.url, { connections: 4 });
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 60 }, () => client.send(restore, { signal })));
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    expect(EventEmitter.getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('close', () => {
  test('lets calls under way finish and refuses later ones', async () => {
    const server = await httpServer((response) => setImmediate(() => json(response)));
    const client = clientOf(server.url);
    const sending = client.send(restore);
    await client.close();
    expect(await sending).toMatchObject({ ok: true });
    expect(await client.send(restore)).toMatchObject({
      requests: 0,
      failure: { class: 'aborted', code: 'CLIENT_CLOSED', unclear: false },
    });
  });

  test('may be called twice', async () => {
    const client = clientOf('https://api.example.com');
    await client.close();
    await expect(client.close()).resolves.not.toThrow();
  });
});

test('a request that HTTP cannot carry is a mistake of the caller', async () => {
  const client = clientOf('https://api.example.com');
  await expect(client.send({ path: '/with blank', body: '{}' })).rejects.toThrow('invalid request path');
});

test('inspecting a client shows no token, also while a call is under way', async () => {
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
