// @ts-check
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeManifest } from '../manifest.js';
import { arrivalsPerSecond } from '../measure/arrivals.js';
import { cqbatch } from '../measure/child.js';
import { lineAbout } from '../measure/figures.js';
import { withLocalApi } from '../measure/local-api.js';
import { withRedis } from '../measure/redis.js';
import { inTurns } from '../measure/samples.js';
import { measureScript, takeUsage } from '../measure/usage.js';
import { startWorker, withWorkers } from '../measure/worker.js';

const concurrency = 50;
const latencyMs = 50;

/**
 * A worker makes at most 1,000 calls a second, so that this takes fifteen seconds. The first six and the last one are not
 * judged: the permitted rate doubles up from 20 calls a second, V8 optimizes, and at the end one of two workers may have
 * nothing left to do.
 */
const rowsPerWorker = 15_000;
const judged = { from: 0.4, to: 0.95 };

/**
 * How much more two worker processes do than one.
 *
 * @type {import('./scenario.js').Scenario}
 */
export const workers = {
  name: 'workers',
  needsRedis: true,
  async run(context) {
    const { quick, folder } = context;
    return withLocalApi(latencyMs, async ({ url: baseUrl, takeArrivals }) => {
      const measure = (/** @type {number} */ number) => async () => {
        const rows = number * (quick ? 2_000 : rowsPerWorker);
        const source = await writeManifest(folder, rows);
        const cpuMs = await withRedis(folder, ({ url: queue }) =>
          coordinate({ folder, source, queue, baseUrl, number }),
        );
        const arrivals = await takeArrivals();
        if (arrivals.length !== rows) throw new Error(`${arrivals.length} calls for ${rows} rows.`);
        return {
          rowsPerSecond: arrivalsPerSecond(arrivals.slice(judged.from * rows, judged.to * rows)),
          cpuMicroseconds: (1_000 * cpuMs) / rows,
        };
      };
      const samples = await inTurns(
        quick ? 1 : 3,
        { 'one worker': measure(1), 'two workers': measure(2) },
        context,
      );
      return [
        lineAbout('rowsPerSecond', {
          title: `Redis, two workers, API of ${latencyMs} ms`,
          ours: samples['two workers'],
          reference: samples['one worker'],
          referenceName: 'one worker',
          comparison: 'ratio',
          goal: { atLeast: 1.9 },
        }),
      ];
    });
  },
};

/**
 * A whole run whose calls are made by worker processes that start before it.
 *
 * @param {{ folder: string, source: string, queue: string, baseUrl: string, number: number }} run
 * @returns {Promise<number>} CPU time of all processes, in milliseconds
 */
async function coordinate({ folder, source, queue, baseUrl, number }) {
  const stateDir = join(folder, 'state');
  const usageFiles = Array.from({ length: number }, (_, index) => join(folder, `worker-${index}.json`));
  const start = usageFiles.map(
    (usageFile) => () => startWorker({ queue, baseUrl, concurrency, stateDir, usageFile }),
  );
  let { cpuMs } = await withWorkers(start, () =>
    measureScript(
      [
        ...[cqbatch, 'run', source, '--no-worker', '--yes', '--quiet'],
        ...['--queue', queue, '--base-url', baseUrl, '--state-dir', stateDir],
      ],
      { usageFile: join(folder, 'run.json') },
    ),
  );
  await rm(stateDir, { recursive: true, force: true });
  for (const usageFile of usageFiles) cpuMs += (await takeUsage(usageFile)).cpuMs;
  return cpuMs;
}
