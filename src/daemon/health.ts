import { hostname } from 'node:os';
import { createServer, isForThisServer, listen } from './http-server.ts';

export interface HealthState {
  /** If the worker is not healthy, its supervisor should start another. */
  readonly healthy: boolean;
  /** Whether the worker takes rows. While it starts, stops or waits for its datastore, it is healthy, but not ready. */
  readonly ready: boolean;
  /** Contains no secret, because anyone who reaches the port can read it. */
  readonly reason?: string | undefined;
  /** Further facts, such as the rows in flight, beside `status` in both answers. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

export interface HealthServerOptions {
  readonly host: string;
  /** Other names by which the server may be asked. */
  readonly names?: readonly string[] | undefined;
  /** The port to listen at; 0 takes any free port. */
  readonly port: number;
  readonly state: () => HealthState;
  /** Writes the metrics. Absent without the page `/metrics`. */
  readonly metrics?: (() => Promise<{ readonly contentType: string; readonly text: string }>) | undefined;
}

export type HealthServer = Awaited<ReturnType<typeof startHealthServer>>;

/**
 * Serves probes: `/healthz` says whether the worker can continue, `/readyz` whether it takes rows; 200 if so, 503 with a reason if not.
 * `/metrics` is for Prometheus.
 *
 * @throws a usage error `CANNOT_LISTEN`
 */
export async function startHealthServer({ host, names = [], port, state, metrics }: HealthServerOptions) {
  const server = await createServer();
  server.setReplySerializer((document) => `${JSON.stringify(document)}\n`);
  const ownNames = [host, hostname(), ...names];
  server.addHook('onRequest', async ({ headers }, reply) => {
    // Some load balancers send no name; every browser does.
    if (headers.host === undefined || isForThisServer(headers, ownNames)) return undefined;
    return reply.code(403).send({ status: 'refused', reason: wrongNameReason });
  });
  const answer = (path: string, isOk: (reported: HealthState) => boolean, trouble: string) =>
    server.get(path, async (_, reply) => {
      const { facts, ...reported } = stateOrTrouble(state);
      const [code, status] = isOk(reported) ? [200, 'ok'] : [503, trouble];
      return reply.code(code).send({ ...facts, status, ...reported });
    });
  answer('/healthz', ({ healthy }) => healthy, 'unhealthy');
  answer('/readyz', ({ healthy, ready }) => healthy && ready, 'not ready');
  if (metrics !== undefined)
    server.get('/metrics', async (_, reply) => {
      const { contentType, text } = await metrics();
      return reply.type(contentType).send(text);
    });
  const paths = ['/healthz', '/readyz', ...(metrics === undefined ? [] : ['/metrics'])];
  server.setNotFoundHandler((_, reply) => reply.code(404).send({ status: 'not found', paths }));
  const address = await listen(server, host, port, 'health-');
  return {
    port: address.port,
    /** Closes the server. Idempotent. */
    close: () => server.close(),
  };
}

const wrongNameReason =
  'The host name in the request is not known here. Ask by IP address, or start the process with --health-name NAME.';

function stateOrTrouble(state: () => HealthState): HealthState {
  try {
    return state();
  } catch (error) {
    return { healthy: false, ready: false, reason: `its state is unknown: ${(error as Error).message}` };
  }
}
