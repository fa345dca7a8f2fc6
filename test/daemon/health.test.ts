import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type HealthServer,
  type HealthServerOptions,
  type HealthState,
  startHealthServer,
} from '../../src/daemon/health.ts';

const well: HealthState = { healthy: true, ready: true };

/** A health server on any free port; it stops with the test. */
async function serve(
  state: () => HealthState,
  metrics?: HealthServerOptions['metrics'],
): Promise<HealthServer & { readonly url: string }> {
  const server = await startHealthServer({ host: '127.0.0.1', port: 0, state, metrics });
  onTestFinished(() => server.close());
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

async function ask(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init);
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  };
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
    ['a query does not change the path', '/healthz?verbose=1', well, 200, ok],
  ])('%s', async (_title, path, state, status, body) => {
    const { url } = await serve(() => state);
    const answer = await ask(url + path);
    expect(answer).toMatchObject({ status, body });
    expect(answer.body).toEqual(body);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test.each(['/healthz', '/readyz'])('HEAD %s gets the same answer as GET, without a body', async (path) => {
    const { url } = await serve(() => ({ healthy: false, ready: false }));
    const [get, head] = [await ask(url + path), await ask(url + path, { method: 'HEAD' })];
    expect(head).toMatchObject({ status: 503, text: '' });
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  test.each([
    ['GET', '/'],
    ['GET', '/healthz/'],
    ['GET', '/healthz/..'],
    ['GET', '/metrics'],
    ['POST', '/healthz'],
    ['DELETE', '/readyz'],
  ])('%s %s gets a 404', async (method, path) => {
    const { url } = await serve(() => well);
    // fetch would resolve the path; the wire takes it as it is.
    const sent = request(`${url}/`, { method, path, agent: false }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    answer.resume();
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

describe('the page for Prometheus', () => {
  test('has the metrics, with their own type', async () => {
    const { url } = await serve(
      () => well,
      async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' }),
    );
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4');
    expect([answer.status, await answer.text()]).toEqual([200, 'up 1\n']);
    const nowhere = await ask(`${url}/`);
    expect(nowhere).toMatchObject({ status: 404, body: { paths: ['/healthz', '/readyz', '/metrics'] } });
  });

  test('that fails says why, and ends nothing', async () => {
    const { url } = await serve(
      () => well,
      () => Promise.reject(new Error('no figures')),
    );
    expect(await ask(`${url}/metrics`)).toMatchObject({ status: 500, body: { message: 'no figures' } });
    expect((await ask(`${url}/healthz`)).status).toBe(200);
  });
});

describe('the port', () => {
  test('that is in use, or of an address of another machine, is a usage error', async () => {
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
});

describe('close', () => {
  test('does not wait for a connection that is kept alive', async () => {
    const { url, close } = await serve(() => well);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const sent = request(`${url}/healthz`, { agent }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    const { socket } = sent;
    if (socket === null) throw new Error('no socket');
    expect(socket.destroyed).toBe(false);
    const ended = once(socket, 'close');
    await close();
    await ended;
  });

  test('does not wait for a client that never finishes its request', async () => {
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
});
