// @ts-check
import { cqbatch, startCommand } from './child.js';
import { reportingUsage } from './usage.js';

/**
 * @typedef {object} WorkerOptions
 * @property {string} queue
 * @property {string} baseUrl
 * @property {number | 'auto'} concurrency
 * @property {string} stateDir
 * @property {string} [usageFile] where it writes its usage when it ends
 */

/**
 * Starts `cqbatch worker` and waits until it takes rows.
 *
 * @param {WorkerOptions} options
 * @returns {Promise<{ stop(): Promise<void> }>} `stop` ends it as a supervisor does
 */
export async function startWorker({ queue, baseUrl, concurrency, stateDir, usageFile }) {
  const worker = startCommand(
    process.execPath,
    [
      ...[cqbatch, 'worker', '--queue', queue, '--base-url', baseUrl],
      ...['--concurrency', String(concurrency), '--state-dir', stateDir],
    ],
    { env: { CQBATCH_TOKEN: 'benchmark', ...(usageFile !== undefined && reportingUsage(usageFile)) } },
  );
  await worker.says(/worker started/);
  return { stop: () => worker.end('SIGTERM') };
}

/**
 * Starts workers, one after the other, and stops them in the end.
 *
 * @template Result
 * @param {readonly (() => Promise<{ stop(): Promise<void> }>)[]} starts
 * @param {() => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withWorkers(starts, use) {
  /** @type {{ stop(): Promise<void> }[]} */
  const started = [];
  try {
    for (const start of starts) started.push(await start());
    return await use();
  } finally {
    await Promise.all(started.map((worker) => worker.stop()));
  }
}
