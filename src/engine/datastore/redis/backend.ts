import { type ConnectionOptions, createRedisBackend, type RedisConnection } from 'bullmq';
import type { Redis } from 'ioredis';
import { isAtLeast } from '../../../base/text/version.ts';
import type { Datastore } from '../datastore.ts';
import type { Inspection } from './checks.ts';
import { endBetweenTries } from './client.ts';
import { dropCommand } from './failure.ts';

/**
 * BullMQ's Redis backend, without prints to the console and passwords in errors.
 *
 * @param onConnection for each connection that BullMQ opens by itself
 */
export function backendFor(
  inspection: Inspection,
  onConnection: (client: Redis) => void,
  onError: (error: Error) => void,
): Datastore['backend'] {
  const { evictionPolicy = 'noeviction', mayAskInfo, version } = inspection;
  // BullMQ runs INFO on each connection: this fails where forbidden, and warns about the eviction policy even without a memory limit.
  const askInfo = mayAskInfo && evictionPolicy === 'noeviction';
  const canBlockFor1Ms = version !== undefined && isAtLeast(version, '7.0.8');
  return (name, options, connections) => {
    const bullmqOptions = options as typeof options & { connection: ConnectionOptions };
    const backend = createRedisBackend(
      name,
      askInfo ? bullmqOptions : { ...bullmqOptions, skipVersionCheck: true },
      connections,
    );
    // The first listener, so that no other sees the command of a failed login, which contains the password.
    backend.on('error', (error: Error) => {
      dropCommand(error);
      onError(error);
    });
    whenConnected(backend.blockingConnection, (client) => {
      // ioredis prints errors that have no listener, as after BullMQ has closed.
      client.on('error', () => {});
      onConnection(client);
      endBetweenTries(client);
    });
    for (const connection of askInfo ? [] : [backend.connection, backend.blockingConnection]) {
      whenConnected(connection, () => {
        // Otherwise BullMQ assumes that Redis blocks for whole seconds only, and claims rows later.
        if (connection !== undefined) connection.capabilities = { canDoubleTimeout: true, canBlockFor1Ms };
      });
    }
    return backend;
  };
}

function whenConnected(connection: RedisConnection | undefined, take: (client: Redis) => void): void {
  connection?.client.then(
    (client) => take(client as unknown as Redis),
    () => {},
  );
}
