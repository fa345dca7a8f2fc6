// @ts-check
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { measureProgram, plainEnvironment, timeCommand } from '../measure/child.js';
import { withLocalApi } from '../measure/local-api.js';
import { inTurns } from '../measure/samples.js';
import { restorePath } from '../programs/plain-client.js';

/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('../programs/run.js').RunFigures} RunFigures */
/** @typedef {import('../programs/stopwatch.js').Speed} Speed */

const concurrency = 50;

/**
 * Throughput of a run on the embedded datastore against an API without latency, beside a bare BullMQ worker on the
 * same datastore, and for orientation beside what has no datastore at all.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const embedded = {
  name: 'embedded',
  run: ({ quick, folder, say }) =>
    withLocalApi(0, async ({ url: baseUrl }) => {
      const rows = quick ? 1_000 : 4_000;
      const loopRows = quick ? 4_000 : 20_000;
      const curlRows = quick ? 100 : 400;
      const source = join(folder, 'manifest.csv');
      await writeManifest(source, rows);

      /** @type {<Answer>(name: string, options: object) => Promise<Answer>} */
      const onNewDatastore = async (name, options) => {
        const stateDir = join(folder, 'state');
        const answer = await measureProgram(name, { stateDir, baseUrl, ...options });
        await rm(stateDir, { recursive: true });
        return /** @type {any} */ (answer);
      };
      const bareWorker = (/** @type {'own' | 'main'} */ thread) => async () => {
        const work = { rows, concurrency, rowsAtOnce: 100, maxWaiting: 1_000, thread };
        return /** @type {Speed} */ (await onNewDatastore('bare-worker', work)).rowsPerSecond;
      };
      /** @type {Record<string, () => Promise<number>>} */
      const contestants = {
        'bare worker': bareWorker('own'),
        ours: async () => /** @type {RunFigures} */ (await onNewDatastore('run', { source })).rowsPerSecond,
        'bare worker without thread': bareWorker('main'),
        'undici loop': () =>
          /** @type {Promise<number>} */ (
            measureProgram('undici-loop', { baseUrl, rows: loopRows, concurrency })
          ),
      };
      if (['xargs', 'curl'].every(isInstalled))
        contestants['xargs curl'] = () => xargsCurl(baseUrl, curlRows);
      else say('  xargs or curl is missing: left out');
      const samples = await inTurns(quick ? 2 : 3, contestants, say);
      return linesOf(samples);
    }),
};

/** @returns {readonly Line[]} */
function linesOf(/** @type {Record<string, readonly number[]>} */ samples) {
  const { ours = [], 'bare worker': bare = [], 'undici loop': loop = [], 'xargs curl': curl } = samples;
  const withoutThread = samples['bare worker without thread'] ?? [];
  const line = /** @type {const} */ ({ unit: 'rows/s', comparison: 'ratio' });
  return [
    {
      ...line,
      title: 'embedded run, API of 0 ms',
      ours,
      reference: bare,
      referenceName: 'bare BullMQ worker',
      goal: { atLeast: 0.7 },
    },
    {
      ...line,
      title: 'bare worker, PGlite in a thread',
      ours: bare,
      reference: withoutThread,
      referenceName: 'on the main thread',
    },
    { ...line, title: 'embedded run', ours, reference: loop, referenceName: 'undici loop, nothing kept' },
    ...(curl === undefined
      ? []
      : [{ ...line, title: 'embedded run', ours, reference: curl, referenceName: 'xargs -P 50 curl' }]),
  ];
}

/** @returns {Promise<number>} rows per second */
async function xargsCurl(/** @type {string} */ baseUrl, /** @type {number} */ rows) {
  const curl = ['curl', '-sS', '-f', '-o', '/dev/null', '-H', 'content-type: application/json'];
  const body = '{"evaluation_id":%,"user_id":"supervisor"}';
  const input = Array.from({ length: rows }, (_, row) => `${row + 1}\n`).join('');
  const milliseconds = await timeCommand(
    'xargs',
    ['-P', String(concurrency), '-I', '%', ...curl, '-d', body, baseUrl + restorePath],
    { input },
  );
  return rows / (milliseconds / 1_000);
}

function isInstalled(/** @type {string} */ command) {
  return spawnSync(command, ['--version'], { env: plainEnvironment(), stdio: 'ignore' }).error === undefined;
}
