// @ts-check
/**
 * Reference: a bare BullMQ worker on the same embedded datastore. It makes the same calls and looks at the answers, but
 * reads no manifest, keeps no results, and writes nothing. Timed from the first row added to the last one completed.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { withBackend } from 'bullmq';
import { openEmbedded } from '../../../dist/src/datastore/embedded/embedded.js';
import { openInProcess } from './in-process-datastore.js';
import { plainClient } from './plain-client.js';
import { program } from './program.js';

/**
 * @typedef {object} BareInput
 * @property {string} stateDir
 * @property {string} baseUrl
 * @property {number} rows
 * @property {number} concurrency
 * @property {'own' | 'main'} thread where PGlite runs
 */

const rowsAtOnce = 100;
const maxWaiting = 1_000;
const queueName = 'rows';

await program(async (/** @type {BareInput} */ { stateDir, baseUrl, rows, concurrency, thread }) => {
  await mkdir(stateDir, { recursive: true });
  const datastore =
    thread === 'own'
      ? await openEmbedded({ stateDir, purpose: 'benchmark' })
      : await openInProcess(join(stateDir, 'queue'));
  const { Queue, Worker } = withBackend(
    /** @type {import('bullmq').BackendFactory<import('bullmq').IQueueBackend, object>} */ (
      datastore.backend
    ),
  );
  const { connection } = datastore;
  const client = plainClient(baseUrl, concurrency);
  const queue = new Queue(queueName, { connection, streams: { events: { maxLen: 100 } } });
  await queue.waitUntilReady();

  const start = performance.now();
  let done = 0;
  let awaited = Number.POSITIVE_INFINITY;
  let reached = () => {};
  const worker = new Worker(queueName, (job) => client.restore(job.data.id), { connection, concurrency });
  worker.on('completed', () => {
    done += 1;
    if (done === awaited) reached();
  });
  worker.on('failed', (_job, error) => {
    throw error;
  });
  const completed = async (/** @type {number} */ count) => {
    if (done >= count) return;
    await new Promise((resolve) => {
      awaited = count;
      reached = () => resolve(undefined);
    });
  };
  for (let added = 0; added < rows; added += rowsAtOnce) {
    await queue.addBulk(
      Array.from({ length: Math.min(rowsAtOnce, rows - added) }, (_, index) => ({
        name: 'row',
        data: { id: added + index + 1 },
        opts: { removeOnComplete: true },
      })),
    );
    await completed(added + 2 * rowsAtOnce - maxWaiting);
  }
  await completed(rows);
  const rowsPerSecond = rows / ((performance.now() - start) / 1_000);

  await worker.close();
  await queue.close();
  await client.close();
  await datastore.close();
  return rowsPerSecond;
});
