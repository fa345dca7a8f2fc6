// @ts-check
import { once } from 'node:events';
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
export const evaluations = 1_000_000;

/**
 * @template Result
 * @param {readonly string[]} options of its command line, the limit among them
 * @param {(sandbox: Sandbox) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withSandbox(options, use) {
  const child = startCommand(process.execPath, [
    ...[cqbatch, 'sandbox', '--port', '0', '--json', '--token', 'benchmark'],
    ...['--evaluations', String(evaluations), '--unrecoverable', '0%', '--not-deleted', '0%'],
    ...options,
  ]);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    said = (said + text).slice(-10_000);
  });
  const lost = once(child, 'close').then(([code, signal]) => {
    throw new Error(`The sandbox ended with ${signal ?? `exit code ${code}`}:\n${said}`);
  });
  // Killing it in the end is not a failure.
  lost.catch(() => {});
  try {
    const url = await Promise.race([addressOf(child), lost]);
    return await Promise.race([
      use({
        url,
        firstCall: async () => {
          while ((await read(`${url}/sandbox/log`)) === '') await sleep(10);
        },
        calls: async () => callsIn(await read(`${url}/sandbox/log`)),
      }),
      lost,
    ]);
  } finally {
    child.kill('SIGKILL');
    await lost.catch(() => {});
  }
}

/** @returns {Promise<string>} */
function addressOf(/** @type {import('node:child_process').ChildProcess} */ child) {
  return new Promise((resolve) => {
    let line = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      line += text;
      if (line.includes('\n')) resolve(JSON.parse(line).url);
    });
  });
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
