// @ts-check
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built command line. */
export const cqbatch = fileURLToPath(new URL('../../../dist/bin/cqbatch.js', import.meta.url));

/** A measurement that takes longer hangs, unless it sets another limit. */
const usualLimitMs = 5 * 60_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
// However this process ends: not every child notices it.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Kills every process that was started here, and waits until all are gone. */
export async function stopAll() {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all([...running].map((child) => once(child, 'close')));
}

/**
 * Starts a script as a separate process, with a channel for messages.
 *
 * @param {URL} script
 * @param {readonly string[]} args
 * @param {string} [authority] file with a certificate that it trusts
 */
export function startScript(script, args, authority) {
  const child = fork(fileURLToPath(script), args, {
    env: { ...plainEnvironment(), ...(authority !== undefined && { NODE_EXTRA_CA_CERTS: authority }) },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return tracked(child);
}

/**
 * Runs one of `programs/` in a separate process, so that no measurement warms up the next one or leaves memory to it.
 *
 * @template Answer
 * @param {string} name
 * @param {Readonly<Record<string, unknown>> & { readonly authority?: string | undefined }} options `authority`: file with a certificate
 *   that the program trusts
 * @param {number} [limitMs]
 * @returns {Promise<Answer>} the result of the program
 */
export async function measureProgram(name, options, limitMs = usualLimitMs) {
  const script = new URL(`../programs/${name}.js`, import.meta.url);
  const child = startScript(script, [JSON.stringify(options)], options.authority);
  let answer = /** @type {Answer | undefined} */ (undefined);
  child.once('message', (message) => {
    answer = /** @type {Answer} */ (message);
  });
  await ended(child, name, limitMs);
  if (answer === undefined) throw new Error(`${name} ended without an answer`);
  return answer;
}

/** @typedef {{ readonly cwd?: string, readonly env?: Readonly<Record<string, string>> }} CommandOptions */

/**
 * Runs a command to its end.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Promise<number>} milliseconds from its start to its end
 */
export async function timeCommand(command, args, { cwd, env } = {}) {
  const start = performance.now();
  const child = tracked(
    spawn(command, args, {
      cwd,
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  await ended(child, command, usualLimitMs);
  return performance.now() - start;
}

/**
 * A command that runs until it is told to end.
 *
 * @typedef {object} Started
 * @property {(text: RegExp) => Promise<string>} says waits until it says this
 * @property {Promise<never>} lost fails when it ends without being told to, and when it does not end as it should
 * @property {(signal?: NodeJS.Signals, code?: number | null) => Promise<void>} end tells it to end, and waits until it does, with this
 *   exit code; without a signal only waits
 */

/**
 * Starts a command, and reads what it says.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {CommandOptions} [options]
 * @returns {Started}
 */
export function startCommand(command, args, { cwd, env } = {}) {
  const child = spawn(command, args, {
    cwd,
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  tracked(child);
  let said = '';
  /** @type {(text: RegExp) => Promise<string>} */
  const heard = (text) =>
    new Promise((resolve) => {
      const look = () => text.test(said) && resolve(text.exec(said)?.[0] ?? '');
      for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
      look();
    });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said = (said + text).slice(-10_000);
    });
  /** @type {number | null | undefined} */
  let expected;
  const closed = once(child, 'close').then(([code, signal]) => {
    if (code !== expected)
      throw new Error(`${command} ${args[1] ?? ''} ended with ${signal ?? `exit code ${code}`}:\n${said}`);
  });
  const lost = closed.then(() => /** @type {Promise<never>} */ (new Promise(() => {})));
  // Those that wait learn of it.
  lost.catch(() => {});
  return {
    says: (text) => within(Promise.race([heard(text), lost])),
    lost,
    async end(signal, code = 0) {
      expected = code;
      if (signal !== undefined) child.kill(signal);
      await within(closed);
    },
  };

  /** @template Result @param {Promise<Result>} event */
  async function within(event) {
    const timer = setTimeout(() => child.kill('SIGKILL'), usualLimitMs);
    return event.finally(() => clearTimeout(timer));
  }
}

/** No setting of the machine may reach the program under measurement. */
export function plainEnvironment() {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} name
 * @param {number} limitMs
 */
async function ended(child, name, limitMs) {
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  try {
    const [code, signal] = await once(child, 'close');
    if (code !== 0) throw new Error(`${name} ended with ${signal ?? `exit code ${code}`}`);
  } finally {
    clearTimeout(timer);
  }
}

function tracked(/** @type {import('node:child_process').ChildProcess} */ child) {
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}
