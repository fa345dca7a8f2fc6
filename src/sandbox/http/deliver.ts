import type { ServerResponse } from 'node:http';
import type { HttpAnswer } from '../service/delivery.ts';
import type { Reaction } from '../service/service.ts';

/** Does on the connection what the service decided. */
export function deliver(response: ServerResponse, reaction: Reaction): void {
  if (reaction.delay > 0) later(reaction.delay, () => deliverNow(response, reaction));
  else deliverNow(response, reaction);
}

function deliverNow(response: ServerResponse, { delivery, sent }: Reaction): void {
  // The client may have given up in the meantime.
  if (response.destroyed || response.socket === null) return;
  switch (delivery.kind) {
    case 'reset':
      response.socket.resetAndDestroy();
      return;
    case 'silence':
      return;
    case 'answer':
      writeHead(response, delivery.answer);
      // As a string, the body goes out in one piece with the header.
      response.end(delivery.answer.body);
      break;
    case 'slow': {
      writeHead(response, delivery.answer);
      const [first, second] = halves(delivery.answer.body);
      response.write(first);
      later(delivery.pause, () => response.end(second));
      break;
    }
    case 'cut': {
      writeHead(response, delivery.answer);
      const [first] = halves(delivery.answer.body);
      // Closed and not reset, as a reset may overtake the first half.
      response.write(first, () => response.socket?.destroy());
      break;
    }
  }
  sent(delivery.answer.status);
}

function writeHead(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
}

function halves(body: string): readonly [Buffer, Buffer] {
  const bytes = Buffer.from(body);
  const middle = Math.floor(bytes.length / 2);
  return [bytes.subarray(0, middle), bytes.subarray(middle)];
}

/** Waiting answers do not keep the process alive once the server is closed. */
function later(milliseconds: number, action: () => void): void {
  setTimeout(action, milliseconds).unref();
}
