// @ts-check
import { mkdir } from 'node:fs/promises';
import { createRedisBackend, withBackend } from 'bullmq';

/**
 * Where the datastore is: an embedded one in this folder, or Redis at this address.
 *
 * @typedef {{ stateDir: string, queue?: string }} BareChoice
 */

/** The minimum that BullMQ must know about a datastore. */
export async function openBareDatastore(/** @type {BareChoice} */ { stateDir, queue }) {
  if (queue !== undefined) {
    const { hostname, port } = new URL(queue);
    return {
      classes: withBackend(backendOf(createRedisBackend)),
      connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null },
      close: async () => {},
    };
  }
  await mkdir(stateDir, { recursive: true });
  const { openEmbedded } = await import('../../../dist/src/engine/datastore/embedded/embedded.js');
  const { connection, backend, close } = await openEmbedded({ stateDir, purpose: 'benchmark' });
  return { classes: withBackend(backendOf(backend)), connection, close };
}

function backendOf(/** @type {unknown} */ backend) {
  return /** @type {import('bullmq').BackendFactory<import('bullmq').IQueueBackend, object>} */ (backend);
}
