// @ts-check
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { redisProgram, withRedis } from './redis.js';
import { withSandbox } from './sandbox.js';
import { withRun } from './whole-run.js';
import { startWorker } from './worker.js';

/** @typedef {import('./sandbox.js').Call} Call */

/**
 * Where the queue is and who makes the calls.
 *
 * @typedef {object} Way
 * @property {string} name
 * @property {boolean} redis
 * @property {number} workers beside the run, which then makes no calls itself; 0 when it does
 */

/** @type {readonly Way[]} */
const everyWay = [
  { name: 'embedded', redis: false, workers: 0 },
  { name: 'Redis', redis: true, workers: 0 },
  { name: 'three workers', redis: true, workers: 3 },
];

/** The ways that are possible on this machine. */
export function possibleWays() {
  return redisProgram() === undefined ? everyWay.filter(({ redis }) => !redis) : everyWay;
}

/**
 * A whole run against its own sandbox, with nothing learned before.
 *
 * @typedef {object} GovernedRun
 * @property {string} folder for what it writes; that is removed afterwards
 * @property {string} source
 * @property {Way} way
 * @property {readonly string[]} sandbox options of its command line
 * @property {readonly string[]} [options] of the command line of the run
 */

/**
 * @param {GovernedRun} run
 * @param {(firstCall: number) => number} until when to interrupt it, in milliseconds since 1970; it must not have ended
 *   before
 * @returns {Promise<readonly Call[]>} as the sandbox saw them
 */
export function callsUntil(run, until) {
  return observe(run, async ({ interrupt }, calls) => {
    const [first] = await calls();
    await sleep(until(first?.at ?? Number.NaN) - Date.now());
    const made = await calls();
    await interrupt();
    return made;
  });
}

/**
 * @param {GovernedRun} run
 * @returns {Promise<readonly Call[]>} as the sandbox saw them
 */
export function callsToTheEnd(run) {
  return observe(run, async ({ completed }, calls) => {
    await completed();
    return calls();
  });
}

/**
 * @template Result
 * @param {GovernedRun} run
 * @param {(run: import('./whole-run.js').WholeRun, calls: () => Promise<readonly Call[]>) => Promise<Result>} use is called
 *   when the first call has arrived
 * @returns {Promise<Result>}
 */
async function observe({ folder, source, way, sandbox, options = [] }, use) {
  const own = await mkdtemp(join(folder, 'run-'));
  const stateDir = join(own, 'state');
  try {
    return await withSandbox(sandbox, ({ url: baseUrl, firstCall, calls }) => {
      const withOptions = (/** @type {readonly string[]} */ more) =>
        withRun({ source, stateDir, baseUrl, options: [...options, ...more] }, async (run) => {
          await firstCall();
          return use(run, calls);
        });
      if (!way.redis) return withOptions([]);
      return withRedis(own, ({ url: queue }) =>
        withWorkers(way.workers, { queue, baseUrl, concurrency: 'auto', stateDir }, () =>
          withOptions(['--queue', queue, ...(way.workers > 0 ? ['--no-worker'] : [])]),
        ),
      );
    });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/**
 * @template Result
 * @param {number} number
 * @param {Parameters<typeof startWorker>[0]} options
 * @param {() => Promise<Result>} use
 * @returns {Promise<Result>}
 */
async function withWorkers(number, options, use) {
  /** @type {Awaited<ReturnType<typeof startWorker>>[]} */
  const started = [];
  try {
    while (started.length < number) started.push(await startWorker(options));
    return await use();
  } finally {
    await Promise.all(started.map((worker) => worker.stop()));
  }
}
