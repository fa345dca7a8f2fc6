// @ts-check
/**
 * Reference: a bare BullMQ worker on the same kind of datastore. It makes the same calls and checks the answers, but reads no
 * manifest, keeps no results, and writes nothing. Timed from the first row added to the last one completed.
 */
import { openBareDatastore } from './bare-datastore.js';
import { peakMemory } from './peak-memory.js';
import { plainClient } from './plain-client.js';
import { program } from './program.js';
import { startWatch } from './stopwatch.js';

/**
 * @typedef {object} BareWork
 * @property {string} baseUrl
 * @property {number} rows
 * @property {number} concurrency
 * @property {number} rowsAtOnce added at once
 * @property {number} maxWaiting rows that are added ahead of those completed
 */

/** @typedef {BareWork & import('./bare-datastore.js').BareChoice} BareInput */

const queueName = 'rows';

await program(
  async (/** @type {BareInput} */ { baseUrl, rows, concurrency, rowsAtOnce, maxWaiting, ...choice }) => {
    const { classes, connection, close } = await openBareDatastore(choice);
    const { Queue, Worker } = classes;
    const client = plainClient(baseUrl, concurrency);
    const queue = new Queue(queueName, { connection, streams: { events: { maxLen: 100 } } });
    await queue.waitUntilReady();

    const watch = startWatch();
    let done = 0;
    let awaited = Number.POSITIVE_INFINITY;
    let reached = () => {};
    const worker = new Worker(queueName, (job) => client.restore(job.data.id), { connection, concurrency });
    worker.on('completed', () => {
      done += 1;
      watch.passed(done, rows);
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
    const speed = watch.speed(rows);

    await worker.close();
    await queue.close();
    await client.close();
    await close();
    return { ...speed, peakMb: peakMemory() };
  },
);
