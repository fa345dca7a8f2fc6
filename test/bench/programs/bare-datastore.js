// @ts-check
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRedisBackend, withBackend } from 'bullmq';

/**
 * Either an embedded datastore, with PGlite in a thread of its own or not, or Redis.
 *
 * @typedef {{ stateDir: string, thread: 'own' | 'main' } | { queue: string }} BareChoice
 */

/** What BullMQ is told about a datastore, and no more than it takes. */
export async function openBareDatastore(/** @type {BareChoice} */ choice) {
  if ('queue' in choice) {
    const { hostname, port } = new URL(choice.queue);
    return {
      classes: withBackend(backendOf(createRedisBackend)),
      connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null },
      close: async () => {},
    };
  }
  const { connection, backend, close } = await openPglite(choice);
  return { classes: withBackend(backendOf(backend)), connection, close };
}

async function openPglite(/** @type {Extract<BareChoice, { thread: string }>} */ { stateDir, thread }) {
  await mkdir(stateDir, { recursive: true });
  if (thread === 'own') {
    const { openEmbedded } = await import('../../../dist/src/datastore/embedded/embedded.js');
    return openEmbedded({ stateDir, purpose: 'benchmark' });
  }
  const { openInProcess } = await import('./in-process-datastore.js');
  return openInProcess(join(stateDir, 'queue'));
}

function backendOf(/** @type {unknown} */ backend) {
  return /** @type {import('bullmq').BackendFactory<import('bullmq').IQueueBackend, object>} */ (backend);
}
