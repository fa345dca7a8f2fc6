import { membersOf } from './address.ts';
import { createRedisClient, type RedisClient, type RedisClientOptions } from './client.ts';

/** What can be told to connect again. */
export interface Connection {
  readonly status: string;
  disconnect(reconnect?: boolean): void;
}

/**
 * Leads connections to the new primary as soon as a Sentinel names one. The old primary may go on for ten seconds as
 * if nothing had happened: what is written to it meanwhile, such as results, is lost.
 */
export class FailoverWatch {
  readonly #connections = new Set<Connection>();
  readonly #sentinels: readonly RedisClient[];

  /** Without Sentinels, it does nothing. */
  constructor(options: RedisClientOptions) {
    const { address, sentinelPassword } = options;
    this.#sentinels =
      address.kind !== 'sentinel'
        ? []
        : membersOf(address, sentinelPassword).map((sentinel) =>
            this.#subscribe({ ...options, address: sentinel }, address.name),
          );
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  close(): void {
    for (const sentinel of this.#sentinels) sentinel.disconnect();
  }

  #subscribe(options: RedisClientOptions, name: string): RedisClient {
    const sentinel = createRedisClient({ ...options, mayAskInfo: false });
    sentinel.on('message', (_, message: string) => {
      if (message.startsWith(`${name} `)) this.#reconnect();
    });
    // It is repeated with every new connection to the Sentinel, and fails only when that is given up.
    sentinel.subscribe('+switch-master').catch(() => {});
    return sentinel;
  }

  #reconnect(): void {
    for (const connection of this.#connections) {
      if (connection.status === 'end') this.#connections.delete(connection);
      // One that is connecting asks the Sentinels anyway, and ioredis would take the call for the end.
      else if (connection.status === 'ready') connection.disconnect(true);
    }
  }
}
