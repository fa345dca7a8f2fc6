// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { cqbatch, measureProgram, timeCommand } from '../measure/child.js';
import { withLocalApi } from '../measure/local-api.js';
import { redisProgram, withRedis } from '../measure/redis.js';
import { inTurns } from '../measure/samples.js';
import { arrivalsPerSecond } from '../measure/slope.js';
import { startWorker } from '../measure/worker.js';

/** @typedef {import('../measure/line.js').Line} Line */
/** @typedef {import('../programs/stopwatch.js').Speed} Speed */
/** @typedef {import('./scenario.js').Context} Context */

const concurrency = 50;
const latencyMs = 50;

/**
 * Throughput on Redis: of a run in one process beside a bare BullMQ worker, and of two worker processes beside one.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const redis = {
  name: 'redis',
  async run(context) {
    if (redisProgram() === undefined) {
      context.say('  redis-server and valkey-server are missing: left out');
      return [];
    }
    return [...(await oneProcess(context)), await twoWorkers(context)];
  },
};

/** @returns {Promise<readonly Line[]>} */
function oneProcess(/** @type {Context} */ { quick, folder, say }) {
  return withLocalApi(0, async ({ url: baseUrl }) => {
    const rows = quick ? 3_000 : 30_000;
    const source = join(folder, 'manifest.csv');
    const stateDir = join(folder, 'state');
    await writeManifest(source, rows);

    const cpu = { 'bare worker': /** @type {number[]} */ ([]), ours: /** @type {number[]} */ ([]) };
    const measure = async (
      /** @type {keyof typeof cpu} */ contestant,
      /** @type {string} */ program,
      /** @type {object} */ options,
    ) => {
      const { rowsPerSecond, cpuMicroseconds } = await withRedis(
        folder,
        ({ url: queue }) =>
          /** @type {Promise<Speed>} */ (measureProgram(program, { baseUrl, queue, ...options })),
      );
      await rm(stateDir, { recursive: true, force: true });
      cpu[contestant].push(cpuMicroseconds);
      return rowsPerSecond;
    };
    const bare = { rows, concurrency, rowsAtOnce: 500, maxWaiting: 3_000 };
    const samples = await inTurns(
      quick ? 2 : 5,
      {
        'bare worker': () => measure('bare worker', 'bare-worker', bare),
        ours: () => measure('ours', 'run', { stateDir, source }),
      },
      say,
    );
    const line = /** @type {const} */ ({ referenceName: 'bare BullMQ worker', comparison: 'ratio' });
    return [
      {
        ...line,
        title: 'Redis, one process, API of 0 ms',
        unit: 'rows/s',
        ours: samples.ours,
        reference: samples['bare worker'],
        goal: { atLeast: 0.9 },
      },
      {
        ...line,
        title: 'Redis, CPU time of the process per row',
        unit: 'µs',
        ours: cpu.ours,
        reference: cpu['bare worker'],
      },
    ];
  });
}

/** @returns {Promise<Line>} */
function twoWorkers(/** @type {Context} */ { quick, folder, say }) {
  return withLocalApi(latencyMs, async ({ url: baseUrl, takeArrivals }) => {
    const rowsPerWorker = quick ? 3_000 : 12_000;
    const measure = (/** @type {number} */ workers) => async () => {
      const rows = workers * rowsPerWorker;
      const source = join(folder, 'manifest.csv');
      await writeManifest(source, rows);
      await withRedis(folder, ({ url: queue }) => coordinate({ folder, source, queue, baseUrl, workers }));
      const arrivals = await takeArrivals();
      if (arrivals.length !== rows) throw new Error(`${arrivals.length} calls for ${rows} rows.`);
      return arrivalsPerSecond(arrivals.slice(0.4 * rows, 0.95 * rows));
    };
    const samples = await inTurns(
      quick ? 1 : 3,
      { 'one worker': measure(1), 'two workers': measure(2) },
      say,
    );
    return {
      title: `Redis, two workers, API of ${latencyMs} ms`,
      unit: 'rows/s',
      ours: samples['two workers'],
      reference: samples['one worker'],
      referenceName: 'one worker',
      comparison: 'ratio',
      goal: { atLeast: 1.9 },
    };
  });
}

/**
 * A whole run whose calls are made by worker processes, which are there before it begins.
 *
 * @param {{ folder: string, source: string, queue: string, baseUrl: string, workers: number }} run
 */
async function coordinate({ folder, source, queue, baseUrl, workers }) {
  const stateDir = join(folder, 'state');
  /** @type {Awaited<ReturnType<typeof startWorker>>[]} */
  const started = [];
  try {
    while (started.length < workers)
      started.push(await startWorker({ queue, baseUrl, concurrency, stateDir }));
    await timeCommand(process.execPath, [
      ...[cqbatch, 'run', source, '--no-worker', '--yes', '--quiet'],
      ...['--queue', queue, '--base-url', baseUrl, '--state-dir', stateDir],
    ]);
  } finally {
    await Promise.all(started.map((worker) => worker.stop()));
    await rm(stateDir, { recursive: true, force: true });
  }
}
