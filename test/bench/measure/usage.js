// @ts-check
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { timeCommand } from './child.js';

/**
 * What a process used from its start to its end, including the start.
 *
 * @typedef {object} Usage
 * @property {number} cpuMs all threads, user and system
 * @property {number} peakMb
 */

const reportUsage = fileURLToPath(new URL('../programs/report-usage.js', import.meta.url));

/**
 * The variables that make a Node process, also the one executable, write its usage when it ends. In Node its parent cannot get that
 * from the system.
 *
 * @param {string} file
 * @returns {Readonly<Record<string, string>>}
 */
export function reportingUsage(file) {
  return { NODE_OPTIONS: `--require ${JSON.stringify(reportUsage)}`, BENCH_USAGE_FILE: file };
}

/** @returns {Promise<Usage>} */
export async function takeUsage(/** @type {string} */ file) {
  const usage = JSON.parse(await readFile(file, 'utf8'));
  await rm(file);
  return usage;
}

/**
 * Runs a script to its end.
 *
 * @param {readonly string[]} args the script and its arguments
 * @param {import('./child.js').CommandOptions & { usageFile: string }} options
 */
export function measureScript(args, options) {
  return measureCommand(process.execPath, args, options);
}

/**
 * Runs Node, or an executable made of it, to its end.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('./child.js').CommandOptions & { usageFile: string }} options
 * @returns {Promise<Usage & { wallMs: number }>}
 */
export async function measureCommand(command, args, { usageFile, env, ...options }) {
  const wallMs = await timeCommand(command, args, {
    ...options,
    env: { ...env, ...reportingUsage(usageFile) },
  });
  return { wallMs, ...(await takeUsage(usageFile)) };
}
