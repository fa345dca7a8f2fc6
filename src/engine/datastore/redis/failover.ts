import { sentinelsOf } from './address.ts';
import { createRedisClient, type RedisClientOptions } from './client.ts';

export interface Connection {
  readonly status: string;
  disconnect(reconnect?: boolean): void;
  once(event: 'end', listener: () => void): unknown;
}

/**
 * Moves connections to the new primary as soon as a Sentinel names it: the old primary may accept writes for ten more seconds, and lose
 * them.
 */
export function watchFailover(options: RedisClientOptions) {
  const { address, sentinelPassword } = options;
  const connections = new Set<Connection>();
  const reconnect = (): void => {
    // A connecting client asks the Sentinels anyway, and ioredis would treat the call as final.
    for (const connection of connections) if (connection.status === 'ready') connection.disconnect(true);
  };
  const sentinels = sentinelsOf(address, sentinelPassword).map((sentinelAddress) => {
    const sentinel = createRedisClient({ ...options, address: sentinelAddress, mayAskInfo: false });
    sentinel.on('message', (_, message: string) => {
      if (address.kind === 'sentinel' && message.startsWith(`${address.name} `)) reconnect();
    });
    // The subscription is repeated on every new connection to the Sentinel, and fails only when the connection is given up.
    sentinel.subscribe('+switch-master').catch(() => {});
    return sentinel;
  });
  return {
    add(connection: Connection): void {
      connections.add(connection);
      // A daemon opens connections for each of its runs.
      connection.once('end', () => connections.delete(connection));
    },
    close(): void {
      for (const sentinel of sentinels) sentinel.disconnect();
    },
  };
}
