import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type HealthServer,
  type HealthServerOptions,
  type HealthState,
  startHealthServer,
} from '../../src/daemon/health.ts';

const named = { host: '127.0.0.1', names: ['worker-1.example.com'] };
const well: HealthState = { healthy: true, ready: true };

/** A health server on any free port; it stops with the test. */
async function serve(
  state: () => HealthState,
  metrics?: HealthServerOptions['metrics'],
): Promise<HealthServer & { readonly url: string }> {
  const server = await startHealthServer({ ...named, port: 0, state, metrics });
  onTestFinished(() => server.close());
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

/** `fetch` chooses the header by itself. */
async function rawGet(port: number, path: string, host: string) {
  const request = get({ host: '127.0.0.1', port, path, headers: { host } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: (await response.toArray()).join('') };
}

async function ask(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text) };
}

describe('the answers to probes', () => {
  const away = { healthy: true, ready: false, reason: 'the datastore is away' };
  const hung = { healthy: false, ready: false, reason: 'no row was started for 120 s' };
  const stuck = { healthy: false, ready: true };
  const facts = { in_flight: 3, status: 'wonderful' };
  const ok = { status: 'ok', ...well };

  test.each<[title: string, path: string, state: HealthState, status: number, body: object]>([
    ['a worker at work is healthy', '/healthz', well, 200, ok],
    ['a worker at work is ready', '/readyz', well, 200, ok],
    ['a worker that waits for its datastore is healthy', '/healthz', away, 200, { status: 'ok', ...away }],
    ['such a worker is not ready', '/readyz', away, 503, { status: 'not ready', ...away }],
    ['a worker that is stuck is not healthy', '/healthz', hung, 503, { status: 'unhealthy', ...hung }],
    ['a stuck worker is not ready', '/readyz', stuck, 503, { status: 'not ready', ...stuck }],
    ['facts do not take the place of the status', '/healthz', { ...well, facts }, 200, { ...facts, ...ok }],
  ])('%s', async (_title, path, state, status, body) => {
    const { url } = await serve(() => state);
    const { headers, ...answer } = await ask(url + path);
    expect(answer).toEqual({ status, body });
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['GET', '/'],
    ['GET', '/metrics'],
    ['POST', '/healthz'],
  ])('%s %s gets a 404', async (method, path) => {
    const { url } = await serve(() => well);
    expect(await ask(url + path, { method })).toMatchObject({ status: 404 });
  });

  test.each<[host: string, status: number]>([
    ['127.0.0.1', 200],
    ['10.0.0.7:8790', 200],
    ['[fd00::7]:8790', 200],
    ['localhost:8790', 200],
    [hostname(), 200],
    ['Worker-1.example.com:8790', 200],
    ['evil.example', 403],
    ['evil.example:8790', 403],
    ['worker-1.example.com.evil.example', 403],
  ])('are for the host "%s": %i', async (host, status) => {
    const { port } = await serve(
      () => well,
      async () => ({ contentType: 'text/plain', text: 'x 1' }),
    );
    for (const path of ['/healthz', '/metrics', '/none'])
      expect((await rawGet(port, path, host)).status).toBe(path === '/none' && status === 200 ? 404 : status);
  });

  test('are for clients that name no host, as load balancers with HTTP/1.0', async () => {
    const { port } = await serve(() => well);
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.0\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.[01] 200 /);
  });

  test('name the option for another name', async () => {
    const { port } = await serve(() => well);
    expect((await rawGet(port, '/healthz', 'evil.example')).body).toContain('--health-name');
  });

  test('a worker that cannot report its state is not healthy', async () => {
    const { url } = await serve(() => {
      throw new Error('no connection');
    });
    expect(await ask(`${url}/healthz`)).toMatchObject({
      status: 503,
      body: { status: 'unhealthy', reason: 'its state is unknown: no connection' },
    });
  });
});

test('the page for Prometheus has the metrics, with their own type', async () => {
  const { url } = await serve(
    () => well,
    async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
  );
  const answer = await fetch(`${url}/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4');
  expect([answer.status, await answer.text()]).toEqual([200, 'up 1\n']);
});

test('a page for Prometheus that fails says why, and ends nothing', async () => {
  const { url } = await serve(
    () => well,
    () => Promise.reject(new Error('no figures')),
  );
  expect(await ask(`${url}/metrics`)).toMatchObject({ status: 500, body: { message: 'no figures' } });
  expect((await ask(`${url}/healthz`)).status).toBe(200);
});

test('a port that is in use, or of an address of another machine, is a usage error', async () => {
  const { port } = await serve(() => well);
  const start = (host: string) => startHealthServer({ host, port, state: () => well });
  const refused = { name: 'CqbatchError', kind: 'usage', code: 'CANNOT_LISTEN' };
  await expect(start('127.0.0.1')).rejects.toMatchObject({
    ...refused,
    message: expect.stringMatching(`port ${port} is in use.*--health-port`),
  });
  // 192.0.2.0/24 is reserved for documentation.
  await expect(start('192.0.2.1')).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining('--health-host'),
  });
});

test('close does not wait for a client that never finishes its request', async () => {
  const { port, close } = await serve(() => well);
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n');
  // The connection may be cut off before the server has read what was written: the client then gets a reset.
  socket.on('error', () => {});
  const ended = new Promise((resolve) => socket.once('close', resolve));
  await close();
  await ended;
});
