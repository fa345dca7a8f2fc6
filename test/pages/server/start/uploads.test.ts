import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startedDashboard } from './started-dashboard.ts';

/** A dashboard that listens, and clients that write HTTP by hand. */
async function listening() {
  const opened = await startedDashboard();
  await opened.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = opened.server.server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const entered = await fetch(`http://${host}/control?token=${opened.access?.token}`, { redirect: 'manual' });
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const open = (
    headers: readonly string[],
    { line = 'POST /drafts?name=rows.csv', type = 'application/octet-stream' } = {},
  ): Socket => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const all = [
      `${line} HTTP/1.1`,
      `Host: ${host}`,
      `Origin: http://${host}`,
      `Content-Type: ${type}`,
      'Content-Length: 1000',
      ...headers,
    ];
    socket.write(`${all.join('\r\n')}\r\n\r\n`);
    return socket;
  };
  const drafts = () => readdir(join(opened.stateDir, 'drafts')).catch(() => []);
  return { ...opened, open, host, session: [`Cookie: ${cookie}`], drafts };
}

async function answerOf(socket: Socket): Promise<string> {
  let text = '';
  for await (const part of socket) text += part;
  return text;
}

test.each([
  ['POST /drafts?name=rows.csv', 'application/octet-stream', 403],
  ['POST /runs/r/cancel', 'application/json', 403],
  ['POST /nothing', 'application/json', 404],
  ['PUT /drafts/0000000000000000/start', 'application/json', 404],
  ['GET /', 'application/json', 200],
])(
  'a client without the session does not hold its connection with the slow body of %s',
  async (line, type, status) => {
    const { open, drafts } = await listening();
    const answer = await answerOf(open([], { line, type }));
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(await drafts()).toEqual([]);
  },
);

test('headers have as little time as on any other dashboard, and only a body has more', async () => {
  const { server } = await listening();
  const { headersTimeout, requestTimeout } = server.server;
  expect([headersTimeout, requestTimeout]).toEqual([5_000, 60_000]);
});

test('a client keeps its connection from one answer to the next', async () => {
  const { host } = await listening();
  const { headers } = await fetch(`http://${host}/`);
  expect(headers.get('connection')).toBe('keep-alive');
});

test('a fifth file at once is refused, and a file that breaks off leaves nothing and frees its place', async () => {
  const { open, session, drafts, host } = await listening();
  const slow = Array.from({ length: 4 }, () => open(session));
  for (const socket of slow) socket.write('evaluation_id\n');
  await expect.poll(async () => (await drafts()).length).toBe(4);
  const upload = async () => {
    const answer = await fetch(`http://${host}/drafts?name=rows.csv`, {
      method: 'POST',
      headers: {
        cookie: session[0]?.slice('Cookie: '.length) ?? '',
        origin: `http://${host}`,
        'content-type': 'application/octet-stream',
      },
      body: 'evaluation_id\n1\n',
    });
    return { status: answer.status, text: await answer.text() };
  };
  expect(await upload()).toEqual({
    status: 400,
    text: expect.stringContaining('4 files are being received'),
  });
  for (const socket of slow) {
    socket.destroy();
    await once(socket, 'close');
  }
  await expect.poll(drafts).toEqual([]);
  expect((await upload()).status).toBe(201);
});
