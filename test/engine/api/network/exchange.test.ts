import { createServer, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { deferred } from '../../../../src/base/async/waiting.ts';
import {
  callTo,
  clientOf,
  deadUrl,
  endOf,
  httpServer,
  listen,
  restore,
  socketServer,
} from '../local-server.ts';
import { selfSigned } from '../self-signed.ts';

const json = (response: ServerResponse): void => void response.end('{"ok":true}');

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n';
const complete = 'HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{"ok":true}';

test.each([
  ['102', '102 Processing\r\n\r\n'],
  ['103', '103 Early Hints\r\nlink: </x>; rel=preload\r\ncontent-encoding: gzip\r\n\r\n'],
])('skips informational answers: %s, in one piece and in two', async (_, informational) => {
  for (const separate of [false, true]) {
    const url = await socketServer((socket) => {
      if (!separate) socket.write(`HTTP/1.1 ${informational}${complete}`);
      else socket.write(`HTTP/1.1 ${informational}`, () => socket.write(complete));
    });
    expect(await callTo(url)).toMatchObject({ ok: true, requests: 1, body: { ok: true } });
  }
});

test.each([
  ['100 Continue', '100 Continue\r\n\r\n'],
  ['101 Switching Protocols', '101 Switching Protocols\r\n\r\n'],
  ['101 Switching Protocols', '101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
])('reports an informational answer that undici cannot skip: %s', async (name, informational) => {
  const url = await socketServer((socket) => socket.write(`HTTP/1.1 ${informational}${complete}`));
  const answer = await callTo(url);
  expect(endOf(answer)).toBe('retry ANSWER_INFORMATIONAL unclear, requests: 1');
  expect(answer).toMatchObject({ failure: { message: expect.stringContaining(name) } });
});

describe('a connection that cannot be made', () => {
  test('is refused at first and then accepted: the call succeeds', async () => {
    const url = await deadUrl();
    const sending = callTo(url);
    const server = createServer((_, response) => json(response));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), '127.0.0.1', resolve));
    expect(endOf(await sending)).toBe('ok, requests: 1');
  });

  test('takes too long', async () => {
    const url = await socketServer(() => {}); // Never answers the TLS handshake.
    const answer = await callTo(url.replace('http:', 'https:'), { timeouts: { connectMs: 20 } });
    expect(endOf(answer)).toBe('unreachable CONNECT_TIMEOUT, requests: 0');
  });

  test('has a certificate that is not trusted: every other call would also fail', async () => {
    const url = await listen(createTlsServer(selfSigned, (_, response) => json(response)));
    const answer = await callTo(url.replace('http:', 'https:'));
    expect(endOf(answer)).toBe('unreachable TLS_ERROR, requests: 0');
    const message = expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(answer).toMatchObject({ failure: { message } });
  });
});

describe('a connection that is lost', () => {
  const half = (finish: (socket: Socket) => unknown) => (socket: Socket) =>
    socket.write(`${head}{"evaluation":`, () => finish(socket));
  const cutOff = expect.stringMatching(/^retry (ANSWER_CUT_OFF 200|CONNECTION_LOST) unclear, requests: 1$/);

  test.each<[moment: string, end: unknown, talk: (socket: Socket) => unknown]>([
    ['before the answer', 'retry CONNECTION_LOST unclear', (socket) => socket.resetAndDestroy()],
    ['in the middle of the answer', cutOff, half((socket) => socket.resetAndDestroy())],
    ['in order in the middle of the answer', cutOff, half((socket) => socket.end())],
    [
      'in the middle of a 4xx answer: refused, so not unclear',
      'retry ANSWER_CUT_OFF 400',
      (socket) => socket.end(head.replace('200 OK', '400 Bad Request')),
    ],
    [
      'by an answer that is not HTTP',
      'retry ANSWER_NOT_HTTP unclear',
      (socket) => socket.end('SSH-2.0-x\r\n'),
    ],
  ])('%s', async (_, end, talk) => {
    const wanted = typeof end === 'string' ? `${end}, requests: 1` : end;
    expect(endOf(await callTo(await socketServer(talk)))).toEqual(wanted);
  });

  test('while idle: the next call uses a new one and is not sent twice', async () => {
    const server = await httpServer((response) => json(response));
    const client = clientOf(server.url);
    await client.send(restore);
    const [first] = server.seen;
    const closed = new Promise((resolve) => first?.socket.once('close', resolve));
    first?.socket.destroy();
    await closed;
    expect(endOf(await client.send(restore))).toBe('ok, requests: 1');
    expect(server.seen).toHaveLength(2);
  });

  test('by a request on a kept connection: the call is unclear and never repeated automatically', async () => {
    const server = await httpServer((response, { socket }) => {
      if (server.seen.length === 1) json(response);
      else socket.destroy();
    });
    const client = clientOf(server.url);
    await client.send(restore);
    for (const request of [restore, { method: 'GET', path: '/calls/1', body: '' } as const])
      expect(endOf(await client.send(request))).toBe('retry CONNECTION_LOST unclear, requests: 1');
    expect(server.seen).toHaveLength(3);
  });
});

describe('a time-out', () => {
  test.each<[of: string, end: string, timeouts: object, answer: (response: ServerResponse) => unknown]>([
    ['the headers', 'retry HEADERS_TIMEOUT unclear', { headersMs: 20 }, () => {}],
    ['the body', 'retry BODY_TIMEOUT 200 unclear', { bodyMs: 20 }, (to) => to.writeHead(200).write('{"a":')],
  ])('of %s is unclear when the request was sent', async (_, end, timeouts, answer) => {
    const { url } = await httpServer(answer);
    expect(endOf(await callTo(url, { timeouts }))).toBe(`${end}, requests: 1`);
  });

  /** Total time-outs of calls, those of the first call first, each of which passes when a test says so. */
  function totalTimeouts() {
    const totalMs = 987_654;
    const { setTimeout: start } = globalThis;
    const ends: (() => void)[] = [];
    const starting = (act: () => void, ms?: number) => {
      if (ms === totalMs) ends.push(act);
      return start(act, ms);
    };
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(starting as typeof setTimeout);
    onTestFinished(() => void spy.mockRestore());
    return { totalMs, end: (which: 0 | -1) => ends.at(which)?.() };
  }

  test('of the whole call is unclear when the request was sent', async () => {
    const { totalMs, end } = totalTimeouts();
    const { url } = await httpServer(() => end(0));
    const answer = await callTo(url, { timeouts: { totalMs } });
    expect(endOf(answer)).toBe('retry TOTAL_TIMEOUT unclear, requests: 1');
  });

  test('of the whole call is clear while it waits for a connection, and the request is never sent', async () => {
    const { totalMs, end } = totalTimeouts();
    const arrived = deferred();
    const server = await httpServer(() => arrived.resolve());
    const client = clientOf(server.url, { connections: 1, timeouts: { totalMs } });
    const blocking = client.send(restore);
    await arrived.promise;
    const waiting = client.send({ ...restore, body: '"second"' });
    await new Promise(setImmediate);
    end(-1);
    expect(endOf(await waiting)).toBe('retry TOTAL_TIMEOUT, requests: 0');
    end(0);
    expect(await blocking).toMatchObject({ failure: { unclear: true } });
    await client.close();
    expect(server.seen.map(({ body }) => body)).toEqual([restore.body]);
  });
});
