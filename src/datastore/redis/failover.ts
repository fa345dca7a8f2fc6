import { membersOf } from './address.ts';
import { createRedisClient, type RedisClientOptions } from './client.ts';

/** What can be told to connect again. */
export interface Connection {
  readonly status: string;
  disconnect(reconnect?: boolean): void;
}

export type FailoverWatch = ReturnType<typeof watchFailover>;

/**
 * Leads connections to the new primary as soon as a Sentinel names one. The old primary may go on for ten seconds as
 * if nothing had happened: what is written to it meanwhile, such as results, is lost. Without Sentinels, it does nothing.
 */
export function watchFailover(options: RedisClientOptions) {
  const { address, sentinelPassword } = options;
  const connections = new Set<Connection>();
  const reconnect = (): void => {
    for (const connection of connections) {
      if (connection.status === 'end') connections.delete(connection);
      // One that is connecting asks the Sentinels anyway, and ioredis would take the call for the end.
      else if (connection.status === 'ready') connection.disconnect(true);
    }
  };
  const addresses = address.kind === 'sentinel' ? membersOf(address, sentinelPassword) : [];
  const sentinels = addresses.map((sentinelAddress) => {
    const sentinel = createRedisClient({ ...options, address: sentinelAddress, mayAskInfo: false });
    sentinel.on('message', (_, message: string) => {
      if (address.kind === 'sentinel' && message.startsWith(`${address.name} `)) reconnect();
    });
    // It is repeated with every new connection to the Sentinel, and fails only when that is given up.
    sentinel.subscribe('+switch-master').catch(() => {});
    return sentinel;
  });
  return {
    add: (connection: Connection): void => void connections.add(connection),
    close(): void {
      for (const sentinel of sentinels) sentinel.disconnect();
    },
  };
}
