import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ApiAnswer, type ClientOptions, createClient } from '../../../src/engine/api/client.ts';
import type { ApiFailure } from '../../../src/engine/api/failure.ts';
import { freePort } from '../../helpers/free-port.ts';

export interface SeenRequest {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly socket: Socket;
}

export interface LocalServer {
  readonly url: string;
  /** Requests that arrived completely. */
  readonly seen: readonly SeenRequest[];
}

/** An HTTP server on loopback that stops after the test. `answer` is called when a request has arrived completely. */
export async function httpServer(
  answer: (response: ServerResponse, request: SeenRequest) => void,
): Promise<LocalServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers, socket } = request;
      seen.push({ method, path: url, headers, body: Buffer.concat(chunks).toString(), socket });
      answer(response, seen.at(-1) as SeenRequest);
    });
  });
  onTestFinished(() => server.closeAllConnections());
  return { url: await listen(server), seen };
}

/** A TCP server on loopback that stops after the test. `talk` is called for each connection with its first data. */
export async function socketServer(talk: (socket: Socket, data: string) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => talk(socket, data.toString()));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return listen(server);
}

/** Starts a server on a free port and stops it after the test. */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A URL on loopback where nothing listens, nor will a server that asks for any port. */
export async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

/** A client of that server, closed after the test. */
export function clientOf(
  baseUrl: string,
  options: Partial<ClientOptions> = {},
): ReturnType<typeof createClient> {
  const client = createClient({ baseUrl, token: 'secret-token', ...options });
  onTestFinished(() => client.close());
  return client;
}

export const restore = { path: '/api/restore', body: '{"evaluation_id":9223372036854775807}' } as const;

/** The one call of a new client of that server. */
export const callTo = (baseUrl: string, options?: Partial<ClientOptions>): Promise<ApiAnswer> =>
  clientOf(baseUrl, options).send(restore);

/** A failure in short: `retry BODY_TIMEOUT 200 unclear`. */
export function briefly({ class: failureClass, code, status, unclear }: ApiFailure): string {
  return [failureClass, code, status, unclear && 'unclear'].filter(Boolean).join(' ');
}

/** How a call ended, in short: `ok, requests: 1`, or `halt UNAUTHENTICATED 401, requests: 2`. */
export const endOf = (answer: ApiAnswer): string =>
  `${answer.ok ? 'ok' : briefly(answer.failure)}, requests: ${answer.requests}`;
