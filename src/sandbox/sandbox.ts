import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { cannotListen } from '../base/errors/errors.ts';
import { stringifyJson } from '../base/text/json.ts';
import { inChunks } from './answer.ts';
import { sendWhole } from './faults.ts';
import { inspectedDocuments, inspectionPrefix } from './look.ts';
import { longestTimer } from './notation.ts';
import type { Reaction, Service } from './service.ts';

export interface Sandbox {
  /** The address of the sandbox, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Closes the sandbox, and ends waiting answers. Idempotent. */
  readonly close: () => void;
}

/** @throws CqbatchError `CANNOT_LISTEN` when the port is taken or the address belongs to another machine */
export async function startSandbox(service: Service): Promise<Sandbox> {
  const { host } = service.settings;
  const port = Number(service.settings.port);
  // Node's default, 5 seconds, closes connections just when clients that call less often use them again.
  const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
    const { url = '' } = request;
    if (url.startsWith(inspectionPrefix))
      show(response, inspectedDocuments(service, new URL(url, 'http://sandbox')));
    else whenReceived(request, (body) => deliver(response, service.react(request, body)));
  });
  try {
    await once(server.listen({ host, port }), 'listening');
  } catch (cause) {
    throw cannotListen(host, port, cause);
  }
  const address = server.address() as AddressInfo;
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    port: address.port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** `act` gets undefined if the request broke off. */
function whenReceived(request: IncomingMessage, act: (body: Buffer | undefined) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('close', () => act(request.complete ? Buffer.concat(chunks) : undefined));
}

function show(response: ServerResponse, documents: Iterable<unknown> | undefined): void {
  response.writeHead(documents ? 200 : 404, { 'content-type': 'application/x-ndjson' });
  Readable.from(inChunks(jsonLines(documents ?? [{ error: 'there is nothing here' }]))).pipe(response);
}

function* jsonLines(documents: Iterable<unknown>): Generator<string> {
  for (const document of documents) yield `${stringifyJson(document)}\n`;
}

function deliver(
  response: ServerResponse,
  { answer, send = sendWhole, delay, entry, onDelivered }: Reaction,
): void {
  if (onDelivered) whenOver(response, onDelivered);
  const act = (): void => {
    // Not the response's socket, which it does not have while it waits for another response on its connection. The client may have given
    // up.
    if (response.destroyed || response.req.socket.destroyed) return;
    send(response, answer);
    if (response.headersSent) entry.status = response.statusCode;
  };
  // Waiting answers must not keep the process alive once the server is closed.
  if (delay > 0) setTimeout(act, Math.min(delay, longestTimer)).unref();
  else act();
}

/** Calls `action` once, when the response is delivered or its connection is gone. */
function whenOver(response: ServerResponse, action: () => void): void {
  const { socket } = response.req;
  if (socket.closed) {
    action();
    return;
  }
  const over = (): void => {
    response.off('close', over);
    socket.off('close', over);
    action();
  };
  response.on('close', over);
  // A response that waits for another on its connection does not learn of its end.
  socket.on('close', over);
}
