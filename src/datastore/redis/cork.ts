import type { Socket } from 'node:net';
import { Cluster, type Redis } from 'ioredis';

/**
 * Has a client send together what it is asked within one turn of the event loop: writing to a socket takes longer than
 * all else that is done for a command. It waits for the end of the turn at most.
 */
export function corkTurns(client: Redis | Cluster): void {
  if (client instanceof Cluster) client.on('+node', (node: Redis) => corkTurns(node));
  // Every new connection has a new socket.
  else client.on('connect', () => corkSocket(client.stream));
}

/** From now on the first write of a turn holds all of them back until its end. Closing the socket sends them at once. */
function corkSocket(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
  let corked = false;
  const uncork = (): void => {
    corked = false;
    socket.uncork();
  };
  socket.write = (...args: unknown[]) => {
    if (!corked) {
      corked = true;
      socket.cork();
      setImmediate(uncork);
    }
    return write(...args);
  };
}
