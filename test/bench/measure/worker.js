// @ts-check
import { once } from 'node:events';
import { cqbatch, startCommand } from './child.js';
import { reportingUsage } from './usage.js';

/** A worker that does not start or end within this time hangs. */
const limitMs = 60_000;

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
  const child = startCommand(
    process.execPath,
    [
      ...[cqbatch, 'worker', '--queue', queue, '--base-url', baseUrl],
      ...['--concurrency', String(concurrency), '--state-dir', stateDir],
    ],
    { env: { CQBATCH_TOKEN: 'benchmark', ...(usageFile !== undefined && reportingUsage(usageFile)) } },
  );
  let said = '';
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code !== 0) throw new Error(`cqbatch worker ended with ${signal ?? `exit code ${code}`}:\n${said}`);
  });
  ended.catch(() => {});
  const within = async (/** @type {Promise<unknown>} */ event) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    await event.finally(() => clearTimeout(timer));
  };
  const started = new Promise((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-10_000);
      if (said.includes('worker started')) resolve(undefined);
    });
  });
  await within(Promise.race([started, ended]));
  return {
    async stop() {
      child.kill('SIGTERM');
      await within(ended);
    },
  };
}
