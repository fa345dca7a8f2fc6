// @ts-check
import { setTimeout as sleep } from 'node:timers/promises';
import { cqbatch, startCommand } from './child.js';

/**
 * A `cqbatch sandbox` in a separate process, in which all evaluations can be restored.
 *
 * @typedef {object} Sandbox
 * @property {string} url
 * @property {() => Promise<void>} firstCall resolves with the first call
 * @property {() => Promise<readonly Call[]>} calls all calls so far, in order of arrival
 */

/**
 * A call as the sandbox saw it.
 *
 * @typedef {object} Call
 * @property {number} at when it arrived, milliseconds since 1970
 * @property {boolean} throttled whether the limit refused it
 */

/** How many evaluations there are; their identifiers begin at 1. */
const evaluations = 1_000_000;

/**
 * @template Result
 * @param {readonly string[]} options of its command line, the limit among them
 * @param {(sandbox: Sandbox) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withSandbox(options, use) {
  const sandbox = startCommand(process.execPath, [
    ...[cqbatch, 'sandbox', '--port', '0', '--json', '--token', 'benchmark'],
    ...['--evaluations', String(evaluations), '--unrecoverable', '0%', '--not-deleted', '0%'],
    ...options,
  ]);
  try {
    const { url } = JSON.parse(await sandbox.says(/^\{.*\}$/m));
    const log = () => read(`${url}/sandbox/log`);
    const firstCall = async () => {
      while ((await log()) === '') await sleep(10);
    };
    return await Promise.race([
      use({ url, firstCall, calls: async () => callsIn(await log()) }),
      sandbox.lost,
    ]);
  } finally {
    await sandbox.end('SIGKILL', null).catch(() => {});
  }
}

async function read(/** @type {string} */ url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`The sandbox answered ${answer.status} to ${url}.`);
  return answer.text();
}

/** @returns {readonly Call[]} */
function callsIn(/** @type {string} */ log) {
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { time, throttled } = JSON.parse(line);
      return { at: Date.parse(time), throttled };
    });
}
