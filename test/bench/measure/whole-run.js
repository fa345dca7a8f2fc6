// @ts-check
import { cqbatch, startCommand } from './child.js';

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
  const run = startCommand(
    process.execPath,
    [
      ...[cqbatch, 'run', source, '--yes', '--quiet'],
      ...['--base-url', baseUrl, '--state-dir', stateDir, ...options],
    ],
    { env: { CQBATCH_TOKEN: 'benchmark' } },
  );
  const whole = { completed: () => run.end(), interrupt: () => run.end('SIGINT', 130) };
  try {
    return await Promise.race([use(whole), run.lost]);
  } finally {
    await run.end('SIGKILL', null).catch(() => {});
  }
}
