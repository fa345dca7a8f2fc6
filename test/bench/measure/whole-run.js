// @ts-check
import { once } from 'node:events';
import { cqbatch, startCommand } from './child.js';

/** A run that takes longer to end, once it should, hangs. */
const limitMs = 5 * 60_000;

/**
 * A `cqbatch run` as users start it.
 *
 * @typedef {object} WholeRun
 * @property {() => Promise<void>} completed waits for its end
 * @property {() => Promise<void>} interrupt ends it as Ctrl-C does
 */

/**
 * @template Result
 * @param {{ source: string, stateDir: string, baseUrl: string, options: readonly string[] }} options
 * @param {(run: WholeRun) => Promise<Result>} use fails when the run ends in any other way
 * @returns {Promise<Result>}
 */
export async function withRun({ source, stateDir, baseUrl, options }, use) {
  const child = startCommand(
    process.execPath,
    [
      ...[cqbatch, 'run', source, '--yes', '--quiet'],
      ...['--base-url', baseUrl, '--state-dir', stateDir, ...options],
    ],
    { env: { CQBATCH_TOKEN: 'benchmark' } },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-10_000);
    });
  }
  let expected = /** @type {number | undefined} */ (undefined);
  const ended = once(child, 'close').then(([code, signal]) => {
    if (code !== expected)
      throw new Error(`cqbatch run ended with ${signal ?? `exit code ${code}`}:\n${said}`);
  });
  const endWith = async (/** @type {number} */ code) => {
    expected = code;
    const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
    await ended.finally(() => clearTimeout(timer));
  };
  const run = {
    completed: () => endWith(0),
    interrupt() {
      child.kill('SIGINT');
      return endWith(130);
    },
  };
  try {
    return await Promise.race([use(run), ended.then(() => new Promise(() => {}))]);
  } finally {
    child.kill('SIGKILL');
    await ended.catch(() => {});
  }
}
