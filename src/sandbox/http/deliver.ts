import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import type { Compression, HttpAnswer } from '../service/delivery.ts';
import type { ServiceReaction } from '../service/service.ts';

/** Does on the connection what the service decided. */
export function deliver(response: Response, reaction: ServiceReaction): void {
  if (reaction.over) whenOver(response, reaction.over);
  if (reaction.delay > 0) later(reaction.delay, () => deliverNow(response, reaction));
  else deliverNow(response, reaction);
}

type Response = ServerResponse<IncomingMessage>;

/** Acts once, when the response is delivered or its connection is gone. */
function whenOver(response: Response, action: () => void): void {
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
  // A response that waits for another one on its connection does not hear of the connection's end.
  socket.on('close', over);
}

function deliverNow(response: Response, { delivery, sent }: ServiceReaction): void {
  // Of the request, as a response that waits for another one on its connection has no socket yet.
  const { socket } = response.req;
  // The client may have given up in the meantime.
  if (response.destroyed || socket.destroyed) return;
  switch (delivery.kind) {
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'silence':
      return;
    case 'answer':
      // As a string, the body goes out in one piece with the header.
      response.end(writeHead(response, delivery.answer));
      break;
    case 'slow': {
      const [first, second] = halves(writeHead(response, delivery.answer));
      response.write(first);
      later(delivery.pause, () => response.end(second));
      break;
    }
    case 'cut': {
      const [first] = halves(writeHead(response, delivery.answer));
      // Closed and not reset, as a reset may overtake the first half.
      response.write(first, () => socket.destroy());
      break;
    }
  }
  sent(delivery.answer.status);
}

/** Writes all but the body, and gives the body as it goes over the wire. */
function writeHead(response: Response, { status, headers, body, compression }: HttpAnswer): string | Buffer {
  const wire = compression === 'none' ? body : compressors[compression](body);
  response.writeHead(status, {
    ...headers,
    ...(compression !== 'none' && { 'content-encoding': compression }),
    'content-length': Buffer.byteLength(wire),
  });
  return wire;
}

const compressors = {
  gzip: (body: string) => gzipSync(body),
  // The default quality is for files that are compressed once.
  br: (body: string) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  deflate: (body: string) => deflateSync(body),
} as const satisfies Record<Exclude<Compression, 'none'>, (body: string) => Buffer>;

function halves(body: string | Buffer): readonly [Buffer, Buffer] {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const middle = Math.floor(bytes.length / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

/** The longest time that a Node.js timer can wait. */
const longest = 2 ** 31 - 1;

/** Waiting answers do not keep the process alive once the server is closed. */
function later(milliseconds: number, action: () => void): void {
  setTimeout(action, Math.min(milliseconds, longest)).unref();
}
