import { type ConnectionOptions, createRedisBackend } from 'bullmq';
import type { Datastore } from '../datastore.ts';
import type { Inspection } from './checks.ts';
import { endBetweenTries, type RedisClient } from './client.ts';
import type { FailoverWatch } from './failover.ts';
import { dropCommand } from './failure.ts';
import { isAtLeast } from './info.ts';

/**
 * BullMQ's Redis backend, without prints to the console and passwords in errors. Its own connections follow the primary like
 * ours.
 */
export function backendFor(inspection: Inspection, failover: FailoverWatch): Datastore['backend'] {
  const { evictionPolicy = 'noeviction', mayAskInfo, version } = inspection;
  // BullMQ runs INFO on each connection: this fails where forbidden, and prints a warning about the eviction policy even
  // without a memory limit, when nothing is ever evicted.
  const askInfo = mayAskInfo && evictionPolicy === 'noeviction';
  const canBlockFor1Ms = version !== undefined && isAtLeast(version, '7.0.8');
  return (name, options, connections) => {
    const bullmqOptions = options as typeof options & { connection: ConnectionOptions };
    const backend = createRedisBackend(
      name,
      askInfo ? bullmqOptions : { ...bullmqOptions, skipVersionCheck: true },
      connections,
    );
    // The first listener, so that no other sees the command of a failed login.
    backend.on('error', dropCommand);
    backend.blockingConnection?.client.then(
      (client) => {
        failover.add(client);
        endBetweenTries(client as unknown as RedisClient);
      },
      () => {},
    );
    for (const connection of askInfo ? [] : [backend.connection, backend.blockingConnection]) {
      connection?.client.then(
        // Otherwise BullMQ assumes that Redis blocks for whole seconds only, and claims rows later.
        () => {
          connection.capabilities = { canDoubleTimeout: true, canBlockFor1Ms };
        },
        () => {},
      );
    }
    return backend;
  };
}
