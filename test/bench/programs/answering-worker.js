// @ts-check
/**
 * A worker that calls nothing: it takes batches like `cqbatch worker`, answers their rows at once, and writes the results. It
 * tells its parent when it takes batches, and runs until it is killed.
 */
import { openRedis } from '../../../dist/src/engine/datastore/redis/redis.js';
import { BatchWorker } from '../../../dist/src/engine/queue/batch-worker.js';
import { openRowQueue } from '../../../dist/src/engine/queue/row-queue.js';

/** @type {{ queue: string, baseUrl: string }} */
const { queue, baseUrl } = JSON.parse(process.argv[2] ?? '{}');
const { datastore } = await openRedis({ url: queue, purpose: 'benchmark' });
new BatchWorker(datastore, openRowQueue(datastore, { baseUrl }), {
  concurrency: 250,
  prepare: ({ row, operation }, run) => ({
    run,
    row,
    operation: operation.name,
    subject: '',
    path: '/',
    body: '',
  }),
  async process({ row, operation }) {
    const at = new Date().toISOString();
    const times = { startedAt: at, finishedAt: at, durationMs: 1 };
    const result = { row, operation, code: 'OK', message: '', httpStatus: 200, attempts: 1, unclear: false };
    return { kind: 'finished', result: { ...result, ...times, outcome: 'succeeded' } };
  },
  onRefused: fail,
  onError: fail,
});
process.on('disconnect', () => process.exit());
process.send?.('ready');

function fail(/** @type {Error} */ error) {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
