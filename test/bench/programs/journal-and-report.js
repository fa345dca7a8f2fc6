// @ts-check
/**
 * The whole of a run but for the datastore and the network: plan, read the rows again, say which are fed, encode and
 * decode them as the datastore would, judge an answer of 1 KB for each, journal the results, write the report.
 */
import { join } from 'node:path';
import { openLog } from '../../../dist/src/cli/log.js';
import { parseJson } from '../../../dist/src/json.js';
import { decodeResult, decodeTask, encodeResult, encodeTask } from '../../../dist/src/queue/payload.js';
import { TrafficMeter } from '../../../dist/src/rate/traffic-meter.js';
import { createRun } from '../../../dist/src/run/create-run.js';
import { openPlannedManifest } from '../../../dist/src/run/open-manifest.js';
import { enterState } from '../../../dist/src/run/record.js';
import { reportRun } from '../../../dist/src/run/report-run.js';
import { openRunStore } from '../../../dist/src/run/store.js';
import { unfinishedTasks } from '../../../dist/src/run/tasks.js';
import { CircuitBreaker } from '../../../dist/src/worker/circuit-breaker.js';
import { createRowProcessor } from '../../../dist/src/worker/row-processor.js';
import { restoreAnswer } from '../answer.js';
import { peakMemory } from './peak-memory.js';
import { program } from './program.js';
import { runOptions } from './run-options.js';

/** @typedef {import('../../../dist/src/queue/payload.js').RowTask} RowTask */

/** As many as the feed window puts into one batch at the most. */
const batchRows = 250;

await program(async (/** @type {{ stateDir: string, source: string }} */ { stateDir, source }) => {
  const options = runOptions({ baseUrl: 'http://127.0.0.1' });
  const store = openRunStore(stateDir);
  const { record, journal } = await createRun(store, {
    source,
    options,
    problemsPath: () => join(stateDir, 'problems.txt'),
  });
  const { manifest, prepare } = await openPlannedManifest(
    join(store.folder(record.id), record.manifest.file),
    record.manifest.name,
    options,
  );
  const process_ = createRowProcessor({
    client: { send: async ({ body }) => answerTo(body) },
    gate: { enter: async () => true, leave: () => {} },
    meter: new TrafficMeter(),
    breaker: new CircuitBreaker({ onChange: () => {}, onHalt: () => {} }),
    governed: () => false,
    log: openLog(),
    onEvent: () => {},
    onHalt: () => {},
  });
  const policy = { attempts: options.attempts, backoffMs: options.backoffMs };
  const { signal } = new AbortController();

  const work = async (/** @type {readonly RowTask[]} */ batch) => {
    const first = batch[0]?.row;
    const last = batch.at(-1)?.row;
    if (first === undefined || last === undefined) return;
    await journal.append([{ type: 'fed', first, last }]);
    const stored = batch.map((task) => JSON.stringify(encodeTask(task)));
    const finished = await Promise.all(
      stored.map(async (text) => {
        const verdict = await process_(
          decodeTask(JSON.parse(text)),
          { attemptsUsed: 0, lostClaims: 0, policy },
          signal,
        );
        if (verdict.kind !== 'finished') throw new Error(`A row is ${verdict.kind}.`);
        return encodeResult(verdict.result);
      }),
    );
    await journal.append(finished.map((text) => ({ type: 'row', result: decodeResult(text) })));
  };
  let batch = /** @type {RowTask[]} */ ([]);
  for await (const task of unfinishedTasks(record.id, manifest.rows(), prepare, journal)) {
    batch.push(task);
    if (batch.length < batchRows) continue;
    await work(batch);
    batch = [];
  }
  await work(batch);

  const { summary } = await reportRun(store, enterState(enterState(record, 'running'), 'completed'), journal);
  await journal.close();
  if (summary.outcomes.succeeded !== record.plan.rows)
    throw new Error(`${summary.outcomes.succeeded} of ${record.plan.rows} rows succeeded.`);
  return peakMemory();
});

/** @returns {import('../../../dist/src/api/client.js').ApiAnswer} */
function answerTo(/** @type {string} */ body) {
  const id = /"evaluation_id":(\d+)/.exec(body)?.[1] ?? '';
  return { ok: true, status: 200, body: parseJson(restoreAnswer(id)), requests: 1, durationMs: 1 };
}
