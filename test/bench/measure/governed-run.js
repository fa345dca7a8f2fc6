// @ts-check
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cqbatch, startCommand } from './child.js';
import { redisProgram, withRedis } from './redis.js';
import { withSandbox } from './sandbox.js';
import { startWorker, withWorkers } from './worker.js';

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
  return observe(run, async (command, calls) => {
    const [first] = await calls();
    await sleep(until(first?.at ?? Number.NaN) - Date.now());
    const made = await calls();
    // As Ctrl-C does.
    await command.end('SIGINT', 130);
    return made;
  });
}

/**
 * @param {GovernedRun} run
 * @returns {Promise<readonly Call[]>} as the sandbox saw them
 */
export function callsToTheEnd(run) {
  return observe(run, async (command, calls) => {
    await command.end();
    return calls();
  });
}

/**
 * @template Result
 * @param {GovernedRun} run
 * @param {(run: import('./child.js').Started, calls: () => Promise<readonly Call[]>) => Promise<Result>} use is called when the
 *   first call has arrived; fails when the run ends without being told to
 * @returns {Promise<Result>}
 */
async function observe({ folder, source, way, sandbox, options = [] }, use) {
  const own = await mkdtemp(join(folder, 'run-'));
  const stateDir = join(own, 'state');
  try {
    return await withSandbox(sandbox, ({ url: baseUrl, firstCall, calls }) => {
      const observed = async (/** @type {readonly string[]} */ ...more) => {
        const places = ['--base-url', baseUrl, '--state-dir', stateDir];
        const args = [cqbatch, 'run', source, '--yes', '--quiet', ...places, ...options, ...more];
        const run = startCommand(process.execPath, args, { env: { CQBATCH_TOKEN: 'benchmark' } });
        try {
          return await Promise.race([firstCall().then(() => use(run, calls)), run.lost]);
        } finally {
          await run.end('SIGKILL', null).catch(() => {});
        }
      };
      if (!way.redis) return observed();
      return withRedis(own, ({ url: queue }) => {
        const start = () => startWorker({ queue, baseUrl, concurrency: 'auto', stateDir });
        return withWorkers(Array(way.workers).fill(start), () =>
          observed('--queue', queue, ...(way.workers > 0 ? ['--no-worker'] : [])),
        );
      });
    });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
