// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { plainEnvironment } from '../measure/child.js';

/** @typedef {readonly [program: string, ...args: string[]]} Command */

/** @type {Set<number>} */
const groups = new Set();
process.on('exit', () => {
  for (const group of groups) killGroup(group);
});

/** Starts a command in a process group of its own, in a folder. */
export function start(/** @type {Command} */ [program, ...args], /** @type {string} */ cwd) {
  const child = spawn(program, args, {
    cwd,
    env: { ...plainEnvironment(), CQBATCH_TOKEN: 'sandbox-token' },
    stdio: 'ignore',
    detached: true,
  });
  const { pid = 0 } = child;
  groups.add(pid);
  const ended = once(child, 'exit').then(() => {
    groups.delete(pid);
  });
  return {
    /** Resolves when it ends, however it ends. */
    ended,
    /** Kills it and all processes that it has started. */
    async kill() {
      killGroup(pid);
      await ended;
    },
  };
}

function killGroup(/** @type {number} */ group) {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
