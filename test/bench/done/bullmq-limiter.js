// @ts-check
/**
 * A queue as people write it: a worker with a guessed limiter, ten calls at a time, ten attempts of each. A second start adds no job again,
 * because jobs have the identifiers of their rows. Usage: `bullmq-limiter.js URL ROWS REDIS`.
 */
import { Queue, Worker } from 'bullmq';
import { update } from './update.js';

const [, , url = '', rows, redis = ''] = process.argv;
const connection = { url: redis, maxRetriesPerRequest: null };
const queue = new Queue('updates', { connection });
const opts = { attempts: 10, backoff: { type: 'exponential', delay: 1_000 } };
await queue.addBulk(
  Array.from({ length: Number(rows) }, (_, index) => ({
    name: 'update',
    data: { id: index + 1 },
    opts: { ...opts, jobId: `row-${index + 1}` },
  })),
);
const worker = new Worker('updates', (job) => update(url, job.data.id), {
  connection,
  concurrency: 10,
  limiter: { max: 30, duration: 1_000 },
});
const states = /** @type {const} */ (['waiting', 'active', 'delayed', 'prioritized']);
while ((await queue.getJobCountByTypes(...states)) > 0)
  await new Promise((resolve) => setTimeout(resolve, 500));
await worker.close();
await queue.close();
