import { type ConnectionOptions, createRedisBackend } from 'bullmq';
import type { Datastore } from '../datastore.ts';
import type { Inspection } from './checks.ts';
import { endBetweenTries, type RedisClient } from './client.ts';
import type { FailoverWatch } from './failover.ts';
import { dropCommand } from './failure.ts';
import { isAtLeast } from './info.ts';

/**
 * BullMQ's Redis backend, kept from printing to the console and from showing passwords. The connections that it makes
 * for itself follow the primary as ours do.
 */
export function backendFor(inspection: Inspection, failover: FailoverWatch): Datastore['backend'] {
  const { evictionPolicy = 'noeviction', mayAskInfo, version } = inspection;
  // BullMQ asks INFO on each connection: it fails where that is forbidden, and prints a warning about the policy even
  // where there is no memory limit and so nothing is ever deleted.
  const askInfo = mayAskInfo && evictionPolicy === 'noeviction';
  const canBlockFor1Ms = version !== undefined && isAtLeast(version, '7.0.8');
  return (name, options, connections) => {
    const bullmqOptions = options as typeof options & { connection: ConnectionOptions };
    const backend = createRedisBackend(
      name,
      askInfo ? bullmqOptions : { ...bullmqOptions, skipVersionCheck: true },
      connections,
    );
    // First of all listeners, so that none sees what a failed login was made with.
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
        // Without it BullMQ takes Redis for one that blocks for whole seconds only, and claims rows that much later.
        () => {
          connection.capabilities = { canDoubleTimeout: true, canBlockFor1Ms };
        },
        () => {},
      );
    }
    return backend;
  };
}
