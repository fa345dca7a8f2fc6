// @ts-check
/**
 * Ours: a whole run on the embedded datastore or on Redis, made of the parts of `cqbatch run`. Timed from when the datastore is
 * open and the first row may be fed, until the report is written.
 */
import { setFlagsFromString } from 'node:v8';
import { operations } from '../../../dist/jobs/index.js';
import { readVersion } from '../../../dist/src/base/package.js';
import { openLog, openTerminal } from '../../../dist/src/cli/terminal.js';
import { createClient } from '../../../dist/src/engine/api/client.js';
import { defaultClearToken } from '../../../dist/src/engine/manifest/manifest.js';
import { usualConcurrency } from '../../../dist/src/engine/rate/rate-controller.js';
import { createRun } from '../../../dist/src/engine/run/plan/create-run.js';
import { openRunStore } from '../../../dist/src/engine/run/record/store.js';
import { executeRun } from '../../../dist/src/engine/run/work/execute-run.js';
import { sampleParts } from '../measure/parts.js';
import { chooseDatastore } from './choose-datastore.js';
import { peakMemory } from './peak-memory.js';
import { program } from './program.js';
import { runOptions } from './run-options.js';
import { startWatch } from './stopwatch.js';

/**
 * @typedef {object} RunInput
 * @property {string} stateDir
 * @property {string} source
 * @property {string} baseUrl
 * @property {string} [rate]
 * @property {boolean} [guarded]
 * @property {boolean} [parts] whether the profiler is to tell the parts of a row's way
 * @property {string} [queue] the address of a Redis; without it the datastore is the embedded one
 * @property {boolean} [calls] whether it calls the rows, which is the default; otherwise other processes do
 */

/** @typedef {import('./stopwatch.js').Speed & { peakMb: number, course: readonly Moment[] } & Partial<import('../measure/parts.js').Parts>} RunFigures */

/**
 * The state of the run at a moment.
 *
 * @typedef {object} Moment
 * @property {number} rows finished so far
 * @property {number} atMs of some clock
 * @property {number} cpuMs of the process so far
 * @property {number} residentMb memory of the process
 */

const lookEveryMs = 250;

await program(async (/** @type {RunInput} */ input) => {
  const { stateDir, source, baseUrl, rate, guarded, parts, queue, calls } = input;
  const options = runOptions({
    baseUrl,
    ...(rate !== undefined && { rate }),
    ...(guarded !== undefined && { guarded }),
  });
  const store = openRunStore(stateDir, operations);
  const { record, journal } = await createRun(store, {
    rows: { kind: 'manifest', source, reading: { clearToken: defaultClearToken } },
    options,
  });
  const client = createClient({
    baseUrl,
    token: 'benchmark',
    connections: usualConcurrency,
    timeouts: { headersMs: options.timeoutMs, bodyMs: options.timeoutMs, totalMs: options.timeoutMs },
  });
  const chosen = await chooseDatastore({ stateDir, queue });
  const endSampling = parts ? await sampleParts() : undefined;
  const watch = startWatch();
  /** @type {import('./stopwatch.js').Speed | undefined} */
  let speed;
  /** @type {import('../measure/parts.js').Parts | undefined} */
  let partsPerRow;
  /** @type {Moment[]} */
  const course = [];
  /** @type {import('../../../dist/src/engine/run/work/progress.js').Progress | undefined} */
  let progress;
  const look = () => {
    const rows = progress?.snapshot().done ?? 0;
    const { user, system } = process.cpuUsage();
    const residentMb = process.memoryUsage.rss() / 1e6;
    watch.passed(rows, record.plan.rows);
    course.push({ rows, atMs: performance.now(), cpuMs: (user + system) / 1_000, residentMb });
  };
  const looking = setInterval(look, lookEveryMs);
  // The journal is closed when the report is written; closing the datastore afterwards is not part of the work.
  const closeJournal = journal.close.bind(journal);
  journal.close = async () => {
    speed = watch.speed(record.plan.rows);
    partsPerRow = await endSampling?.(record.plan.rows);
    return closeJournal();
  };

  // As a command does.
  setFlagsFromString('--heap-growing-percent=120');
  const { reports } = await executeRun({
    store,
    record,
    ...chosen,
    journal,
    client: calls === false ? undefined : client,
    version: readVersion(),
    log: await openLog({}, openTerminal({ quiet: 1 })),
    interrupt: new AbortController().signal,
    onEvent(event) {
      if (event.type === 'started') {
        progress = event.progress;
        watch.restart();
      } else if (event.type === 'called') {
        clearInterval(looking);
        look();
      }
    },
  });
  await chosen.datastore.close();
  await client.close();
  const { succeeded } = reports?.summary.outcomes ?? {};
  if (succeeded !== record.plan.rows || speed === undefined)
    throw new Error(
      `${succeeded} of ${record.plan.rows} rows succeeded: ${JSON.stringify(reports?.summary.codes)}`,
    );
  return /** @satisfies {RunFigures} */ ({ ...speed, ...partsPerRow, peakMb: peakMemory(), course });
});
