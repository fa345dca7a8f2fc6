import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CqbatchError, usageError } from '../errors.ts';

/** The state of a worker at the time of the request. */
export interface HealthState {
  /** Whether it can continue. If not, its supervisor should start another. */
  readonly healthy: boolean;
  /** Whether it takes rows. A worker that is starting, stopping, or waiting for its datastore does not, but is healthy. */
  readonly ready: boolean;
  /** Why it is not healthy or ready, for display. Never contains a secret: anyone who reaches the port can read it. */
  readonly reason?: string;
  /** Other useful facts, such as the rows in flight. They stand beside `status` in both answers. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

export interface HealthServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Asked at each request. */
  readonly state: () => HealthState;
  /** The content of `/metrics`; absent without this page. */
  readonly metrics?: (() => Promise<MetricsPage>) | undefined;
}

/** Metrics in the format that a Content-Type names. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

/** A running health server. */
export type HealthServer = Awaited<ReturnType<typeof startHealthServer>>;

/** A page to send. */
interface Page extends MetricsPage {
  readonly status: number;
}

/** A probe sends its request at once, in one packet; a slower client is not a probe. */
const requestTimeoutMs = 5_000;

/**
 * Starts the server that tells probes the state of this worker: `/healthz` says whether it can continue, `/readyz` whether it
 * takes rows; 200 if so, 503 with a reason if not. `/metrics` has metrics for Prometheus.
 *
 * @throws CqbatchError `HEALTH_PORT` when the port is taken or the address does not belong to this machine
 */
export async function startHealthServer(options: HealthServerOptions) {
  const { host, port } = options;
  const server = createServer({ requestTimeout: requestTimeoutMs }, async (request, response) => {
    const { status, contentType, text } = await pageFor(request, options);
    response.writeHead(status, {
      'content-type': contentType,
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(text),
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  });
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen(host, port, cause as NodeJS.ErrnoException);
  }
  // A connection that can't be accepted, for lack of file descriptors, must not end a working worker.
  server.on('error', () => {});

  let closed: Promise<unknown> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    /** Ends every connection and stops listening. May be called again. */
    async close(): Promise<void> {
      if (closed === undefined) {
        closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
      }
      await closed;
    },
  };
}

async function pageFor(request: IncomingMessage, { state, metrics }: HealthServerOptions): Promise<Page> {
  const { method, url = '/' } = request;
  const path = method === 'GET' || method === 'HEAD' ? url.split('?', 1)[0] : undefined;
  if (path === '/metrics' && metrics !== undefined) {
    try {
      return { status: 200, ...(await metrics()) };
    } catch (error) {
      return { status: 500, contentType: 'text/plain', text: `${(error as Error).message}\n` };
    }
  }
  if (path !== '/healthz' && path !== '/readyz') {
    const paths = ['/healthz', '/readyz', ...(metrics === undefined ? [] : ['/metrics'])];
    return jsonPage(404, { status: 'not found', paths });
  }
  const { healthy, ready, reason, facts } = ask(state);
  const isOk = path === '/healthz' ? healthy : healthy && ready;
  const trouble = path === '/healthz' ? 'unhealthy' : 'not ready';
  return jsonPage(isOk ? 200 : 503, { ...facts, status: isOk ? 'ok' : trouble, healthy, ready, reason });
}

function jsonPage(status: number, body: object): Page {
  return { status, contentType: 'application/json', text: `${JSON.stringify(body)}\n` };
}

/** A worker that can't even report its state is not healthy. */
function ask(state: () => HealthState): HealthState {
  try {
    return state();
  } catch (error) {
    return { healthy: false, ready: false, reason: `its state is unknown: ${(error as Error).message}` };
  }
}

function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): CqbatchError {
  const reason =
    cause.code === 'EADDRINUSE'
      ? `The health port ${port} of ${host} is in use; choose another one with --health-port, or any free one with --health-port 0.`
      : `The health server can't listen on ${host}:${port}: ${cause.message}. See --health-host and --health-port.`;
  return usageError('HEALTH_PORT', reason, cause);
}
