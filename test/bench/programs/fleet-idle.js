// @ts-check
/**
 * Workers with nothing to do, in one process, each with its own connections to Redis, like those of `cqbatch worker`. At the
 * end a run of one row starts, as its coordinator starts it.
 */
import { operations } from '../../../dist/jobs/index.js';
import { LastingErrors } from '../../../dist/src/base/errors/error-throttle.js';
import { openLog, openTerminal } from '../../../dist/src/cli/terminal.js';
import { openCluster } from '../../../dist/src/engine/cluster/cluster.js';
import { requestDigest, requestOfValues } from '../../../dist/src/engine/operation/shown-request.js';
import { newBatchId } from '../../../dist/src/engine/queue/batch-flow.js';
import { openBatchQueue } from '../../../dist/src/engine/queue/batch-queue.js';
import { openRowQueue } from '../../../dist/src/engine/queue/row-queue.js';
import { startHeartbeat } from '../../../dist/src/engine/run/work/heartbeat.js';
import { serveRows } from '../../../dist/src/engine/worker/serve.js';
import { baseUrl, fail, measureMembers, openDatastore, run } from './fleet.js';
import { program } from './program.js';

/**
 * @typedef {import('../measure/redis.js').FleetUsage & { awakeMs: number }} IdleFigures `awakeMs`: from when a run shows itself
 *   until its row is called
 */

const settleMs = 5_000;

await program(async (/** @type {import('./fleet.js').Fleet} */ fleet) => {
  let calledAt = Number.NaN;
  let called = () => {};
  const firstCall = new Promise((resolve) => {
    called = () => resolve(undefined);
  });
  const log = await openLog({}, openTerminal({ quiet: 1 }));
  const serve = async () =>
    serveRows({
      operations,
      log,
      api: { baseUrl },
      concurrency: 'auto',
      version: 'benchmark',
      shutdownMs: 0,
      datastore: await openDatastore(fleet.queue),
      lastingErrors: new LastingErrors(),
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
  const { usage } = await measureMembers(fleet, serve, settleMs);
  const begunAt = await beginRun(await openDatastore(fleet.queue));
  await firstCall;
  return /** @satisfies {IdleFigures} */ ({ ...usage, awakeMs: calledAt - begunAt });
});

/** Shows a run, and feeds its row as soon as no worker calls faster than the run allows. @returns when it was shown */
async function beginRun(
  /** @type {import('../../../dist/src/engine/datastore/datastore.js').Datastore} */ datastore,
) {
  const batches = await openBatchQueue(datastore, {
    runId: run.id,
    rows: openRowQueue(datastore, { baseUrl }),
    policy: { attempts: 1, backoffMs: 1_000 },
    unsettled: new Set(),
    priority: () => 'normal',
    async collect() {},
    async onResults() {},
    async onAnswers() {},
    journalEnd: () => 0,
    restore: async () => {},
    onError: fail,
  });
  const begunAt = performance.now();
  const { established } = startHeartbeat({
    cluster: openCluster(datastore),
    entry: () => ({ ...run, rows: 1 }),
    onClusterStatus() {},
    onError: fail,
  });
  await established;
  const named = { operation: 'restore-evaluation', values: { evaluation_id: '1', user_id: 'benchmark' } };
  const digest = requestDigest(requestOfValues(operations, named));
  const line = JSON.stringify({
    row: 1,
    line: 2,
    op: 0,
    request: digest,
    values: Object.values(named.values),
  });
  const fields = Object.keys(named.values).map((name) => ({ name }));
  const operation = { op: 0, name: named.operation, subject: 'evaluation_id', fields };
  const task = { row: 1, operation, line };
  await batches.add({ id: newBatchId(run.id), tasks: [task] }, new AbortController().signal);
  return begunAt;
}
