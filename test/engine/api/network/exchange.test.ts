import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientOf, deadUrl, httpServer, listen, restore, socketServer } from '../local-server.ts';
import { selfSigned } from '../self-signed.ts';

const json = (response: ServerResponse): void => void response.end('{"ok":true}');

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n';

const complete = 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"ok":true}';

test.each([
  ['102', '102 Processing\r\n\r\n'],
  ['103', '103 Early Hints\r\nlink: </x>; rel=preload\r\ncontent-encoding: gzip\r\n\r\n'],
  [
    'several',
    `102 Processing\r\n\r\nHTTP/1.1 ${'103 Early Hints\r\n\r\nHTTP/1.1 '.repeat(20)}199 Odd\r\n\r\n`,
  ],
])('skips informational answers: %s, in one piece and in two', async (_, informational) => {
  for (const separate of [false, true]) {
    const url = await socketServer((socket) => {
      if (!separate) socket.write(`HTTP/1.1 ${informational}${complete}`);
      else socket.write(`HTTP/1.1 ${informational}`, () => socket.write(complete));
    });
    expect(await clientOf(url).send(restore)).toMatchObject({ ok: true, requests: 1, body: { ok: true } });
  }
});

describe('an informational answer that undici cannot skip', () => {
  test.each([
    ['100 Continue', '100 Continue\r\n\r\n'],
    ['101 Switching Protocols', '101 Switching Protocols\r\n\r\n'],
    ['101 Switching Protocols', '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
  ])('is reported as such: %s', async (name, informational) => {
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

describe('a connection that cannot be made', () => {
  test('is refused: it is tried again shortly, then the class is unreachable, and nothing was sent', async () => {
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

  test('has a certificate that is not trusted: every other call would also fail', async () => {
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

  test('goes to a server that does not speak TLS', async () => {
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
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['ended', (socket: Socket) => socket.end()],
  ])('in the middle of the answer, when it is %s', async (_, finish) => {
    const url = await socketServer((socket) => socket.write(`${head}{"evaluation":`, () => finish(socket)));
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

  test('while idle: the next call uses a new one and is not sent twice', async () => {
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

  test('by a request on a kept connection: the call is unclear and never repeated automatically', async () => {
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

  test('of the whole call is clear while it waits for a connection, and the request is never sent', async () => {
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
