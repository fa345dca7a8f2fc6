import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CqbatchError, usageError } from '../errors.ts';

/** How a worker is, at the moment of asking. */
export interface HealthState {
  /** Fit to go on. If not, whoever supervises the process had better start another. */
  readonly healthy: boolean;
  /** Takes rows. A worker that is starting, stopping, or waiting for its datastore does not, and is healthy. */
  readonly ready: boolean;
  /** Why it is not healthy or not ready, for people. Never with a secret: whoever reaches the port can read it. */
  readonly reason?: string;
  /** What else is worth knowing, such as the rows in flight. It stands beside `status` in both answers. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

export interface HealthServerOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Asked at each request. */
  readonly state: () => HealthState;
  /** What `/metrics` answers; absent: there is no such page. */
  readonly metrics?: (() => Promise<MetricsPage>) | undefined;
}

/** Figures in a format that a Content-Type names. */
export interface MetricsPage {
  readonly contentType: string;
  readonly text: string;
}

/** A running health server. */
export interface HealthServer {
  readonly port: number;
  /** Ends every connection and stops listening. May be called again. */
  close(): Promise<void>;
}

interface HealthAnswer {
  readonly status: 200 | 404 | 503;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A probe asks in one packet and at once; who is slower is none. */
const requestTimeoutMs = 5_000;

/**
 * Starts the server that tells probes how this worker is: `/healthz` says whether it is fit to go on, `/readyz`
 * whether it takes rows; 200 if so, 503 with a reason if not. `/metrics` has figures for Prometheus.
 *
 * @throws CqbatchError `HEALTH_PORT` when the port is taken or the address is not one of this machine.
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { host, port } = options;
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    if (isForMetrics(request) && options.metrics !== undefined)
      void pageOf(options.metrics).then((page) => send(request, response, page));
    else send(request, response, jsonPage(answerTo(request, options)));
  });
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (cause) {
    throw cannotListen(host, port, cause);
  }
  // A connection that can't be accepted, for lack of file descriptors, must not end a worker that is at work.
  server.on('error', () => {});

  let closed: Promise<unknown> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      if (closed === undefined) {
        closed = once(server, 'close');
        server.close();
        server.closeAllConnections();
      }
      await closed;
    },
  };
}

function answerTo(request: IncomingMessage, { state, metrics }: HealthServerOptions): HealthAnswer {
  const notFound = notFoundAmong(['/healthz', '/readyz', ...(metrics === undefined ? [] : ['/metrics'])]);
  if (!isReading(request)) return notFound;
  switch (pathOf(request)) {
    case '/healthz': {
      const now = ask(state);
      return now.healthy ? answer(200, 'ok', now) : answer(503, 'unhealthy', now);
    }
    case '/readyz': {
      const now = ask(state);
      return now.healthy && now.ready ? answer(200, 'ok', now) : answer(503, 'not ready', now);
    }
    default:
      return notFound;
  }
}

function notFoundAmong(paths: readonly string[]): HealthAnswer {
  return { status: 404, body: { status: 'not found', paths } };
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

function pathOf({ url = '/' }: IncomingMessage): string | undefined {
  return url.split('?', 1)[0];
}

function isForMetrics(request: IncomingMessage): boolean {
  return isReading(request) && pathOf(request) === '/metrics';
}

/** What goes out. */
interface Page extends MetricsPage {
  readonly status: number;
}

function jsonPage({ status, body }: HealthAnswer): Page {
  return { status, contentType: 'application/json', text: `${JSON.stringify(body)}\n` };
}

async function pageOf(metrics: () => Promise<MetricsPage>): Promise<Page> {
  try {
    return { status: 200, ...(await metrics()) };
  } catch (error) {
    return { status: 500, contentType: 'text/plain', text: `${(error as Error).message}\n` };
  }
}

/** A worker that can't even say how it is, isn't well. */
function ask(state: () => HealthState): HealthState {
  try {
    return state();
  } catch (error) {
    return { healthy: false, ready: false, reason: `it cannot say how it is: ${(error as Error).message}` };
  }
}

function answer(
  status: 200 | 503,
  word: string,
  { healthy, ready, reason, facts }: HealthState,
): HealthAnswer {
  return {
    status,
    body: { ...facts, status: word, healthy, ready, ...(reason !== undefined && { reason }) },
  };
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  { status, contentType, text }: Page,
): void {
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'content-length': Buffer.byteLength(text),
  });
  response.end(method === 'HEAD' ? undefined : text);
}

function cannotListen(host: string, port: number, cause: unknown): CqbatchError {
  const reason =
    cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE'
      ? `The health port ${port} of ${host} is in use; choose another one with --health-port, or any free one with --health-port 0.`
      : `The health server cannot listen on ${host}:${port}: ${cause instanceof Error ? cause.message : cause}. See --health-host and --health-port.`;
  return usageError('HEALTH_PORT', reason, cause);
}
