// @ts-check
/**
 * Workers with nothing to do, in one process, each with its own connections to Redis, like those of `cqbatch worker`. At the
 * end a run of one row starts, as its coordinator starts it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '../../../dist/jobs/index.js';
import { LastingErrors } from '../../../dist/src/base/errors/error-throttle.js';
import { openLog, openTerminal } from '../../../dist/src/cli/terminal.js';
import { noOutcomes } from '../../../dist/src/domain/terms.js';
import { restoreEvaluationRequest } from '../../../dist/src/engine/api/endpoints/restore-evaluation.js';
import { openCluster } from '../../../dist/src/engine/cluster/cluster.js';
import { openRedis } from '../../../dist/src/engine/datastore/redis/redis.js';
import { openBatchQueue } from '../../../dist/src/engine/queue/batch-queue.js';
import { RollCall } from '../../../dist/src/engine/queue/roll-call.js';
import { openRowQueue } from '../../../dist/src/engine/queue/row-queue.js';
import { emptyRoster } from '../../../dist/src/engine/queue/testimony.js';
import { startHeartbeat } from '../../../dist/src/engine/run/session/heartbeat.js';
import { serveRows } from '../../../dist/src/engine/worker/serve.js';
import { atOnce } from '../measure/at-once.js';
import { startUsage } from '../measure/redis.js';
import { program } from './program.js';

/**
 * @typedef {object} Idle
 * @property {string} queue the address of a Redis
 * @property {number} members
 * @property {number} seconds to measure
 */

/**
 * @typedef {import('../measure/redis.js').FleetUsage & { awakeMs: number }} IdleFigures `awakeMs`: from when a run shows itself
 *   until its row is called
 */

const baseUrl = 'http://127.0.0.1:1';
const settleMs = 5_000;

// The members continue until the process ends.
process.once('disconnect', () => process.exit());
await program(async (/** @type {Idle} */ { queue, members, seconds }) => {
  const open = async () => (await openRedis({ url: queue, purpose: 'benchmark' })).datastore;
  let calledAt = Number.NaN;
  let called = () => {};
  const firstCall = new Promise((resolve) => {
    called = () => resolve(undefined);
  });
  const log = await openLog({}, openTerminal({ quiet: 1 }));
  const serve = async () =>
    serveRows({
      ...{ operations, log, api: { baseUrl }, concurrency: 'auto', version: 'benchmark', shutdownMs: 0 },
      datastore: await open(),
      failing: new LastingErrors(),
      stop: new AbortController().signal,
      client: {
        baseUrl,
        async send(request, { onSent } = {}) {
          onSent?.();
          calledAt = performance.now();
          called();
          const { evaluation_id } = JSON.parse(request.body);
          const body = { evaluation: { evaluation_id } };
          return { ok: true, status: 200, body, requests: 1, durationMs: 1 };
        },
        async close() {},
      },
    });
  await atOnce(
    50,
    Array.from({ length: members }, () => serve),
  );
  await sleep(settleMs);
  const measured = await startUsage(queue, members);
  await sleep(1_000 * seconds);
  const usage = await measured();
  const begunAt = await beginRun(await open());
  await firstCall;
  return /** @satisfies {IdleFigures} */ ({ ...usage, awakeMs: calledAt - begunAt });
});

/** Shows a run, and feeds its row as soon as no worker calls faster than the run allows. @returns when it was shown */
async function beginRun(
  /** @type {import('../../../dist/src/engine/datastore/datastore.js').Datastore} */ datastore,
) {
  const id = 'fleet';
  const fail = (/** @type {Error} */ error) => {
    throw error;
  };
  const batches = await openBatchQueue(datastore, {
    runId: id,
    rows: openRowQueue(datastore, { baseUrl }),
    policy: { attempts: 1, backoffMs: 1_000 },
    rollCall: new RollCall(datastore, emptyRoster),
    priority: () => 'normal',
    async collect() {},
    async onResults() {},
    async onAnswers() {},
    journalEnd: () => 0,
    restore: async () => {},
    async onVanished() {},
    onError: fail,
  });
  const begunAt = performance.now();
  const { established } = startHeartbeat({
    cluster: openCluster(datastore),
    entry: () => ({
      ...{
        id,
        key: id,
        baseUrl,
        state: 'running',
        manifest: 'fleet.csv',
        rows: 1,
        done: 0,
        rowsPerSecond: 0,
      },
      ...{ counts: noOutcomes(), coordinator: { host: 'here', pid: process.pid }, startedAt: '', seenAt: '' },
      rate: { text: 'auto', auto: true },
    }),
    onClusterStatus() {},
    onError: fail,
  });
  await established;
  const request = restoreEvaluationRequest({ evaluationId: 1n, userId: 'benchmark' });
  const task = { run: id, row: 1, operation: 'restore-evaluation', subject: '1', ...request };
  await batches.add([task], new AbortController().signal);
  return begunAt;
}
