import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from '../../api/local-server.ts';

/** Redis answers the first commands of a transaction before the last ones have arrived here. */
const quietMs = 100;

/** A route to Redis that can be cut, and redirected. */
export interface Proxy {
  readonly port: number;
  /** Where new connections go. */
  target: number;
  /**
   * Swallows the next reply of Redis, and ends its connection once nothing more comes. Redis closes it when it has read everything that it
   * was sent, however long that takes: then the client loses it, too.
   */
  loseNextReply(): void;
}

export async function startProxy(target: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let losing = false;
  const server = createServer((client) => {
    const redis = connect(proxy.target, '127.0.0.1');
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => other.destroy());
    }
    client.on('data', (data) => redis.write(data));
    let cutting: NodeJS.Timeout | undefined;
    redis.on('data', (data) => {
      if (!losing && cutting === undefined) {
        client.write(data);
        return;
      }
      losing = false;
      clearTimeout(cutting);
      // What has arrived meanwhile goes to Redis first.
      cutting = setTimeout(() => setImmediate(() => redis.end()), quietMs);
    });
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const proxy: Proxy = {
    port: Number(new URL(await listen(server)).port),
    target,
    loseNextReply() {
      losing = true;
    },
  };
  return proxy;
}
