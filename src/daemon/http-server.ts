import type { IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { cannotListen } from '../base/errors/errors.ts';

const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** How long the headers of a request may take to arrive. */
const headersTimeout = 5_000;

/**
 * Loads Fastify, which takes longer to load than our own code.
 *
 * @param limits `requestTimeout`: how long a whole request may take to arrive, in milliseconds; default: as long as its headers
 */
export async function createServer({ requestTimeout = headersTimeout } = {}): Promise<FastifyInstance> {
  const { fastify } = await import('fastify');
  // Slow requests and idle connections must not delay the end of the process.
  const server = fastify({
    bodyLimit: 10_000,
    requestTimeout,
    http: { headersTimeout },
    forceCloseConnections: true,
  });
  server.addHook('onRequest', async (_, reply) => void reply.headers(headers));
  // A connection that can't be accepted for lack of file descriptors must not end the process.
  server.server.on('error', () => {});
  return server;
}

/**
 * Whether a request is for this server by an address, as `localhost`, or by a name that was told. A web site can make a name of its own
 * lead here (DNS rebinding), and its pages may then read every answer in the browser of a user.
 *
 * @param names in any case
 */
export function isForThisServer({ host = '' }: IncomingHttpHeaders, names: readonly string[]): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{1,5})?$/.exec(host) ?? [];
  const name = (bracketed ?? plain ?? '').toLowerCase();
  return isIP(name) > 0 || name === 'localhost' || names.some((each) => each.toLowerCase() === name);
}

/**
 * @param of the beginning of the names of the flags for host and port: `health-` for `--health-port`
 * @throws a usage error `CANNOT_LISTEN`
 */
export async function listen(
  server: FastifyInstance,
  host: string,
  port: number,
  of: '' | 'health-' = '',
): Promise<AddressInfo> {
  try {
    await server.listen({ host, port });
  } catch (cause) {
    await server.close();
    throw cannotListen(host, port, cause, of);
  }
  return server.server.address() as AddressInfo;
}
