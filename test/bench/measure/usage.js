// @ts-check
import { readFile, rm } from 'node:fs/promises';
import { timeCommand } from './child.js';

/**
 * What a process used from its start to its end, including the start.
 *
 * @typedef {object} Usage
 * @property {number} cpuMs all threads, user and system
 * @property {number} peakMb
 */

const reportUsage = new URL('../programs/report-usage.js', import.meta.url).href;

/**
 * How to start a script so that it writes its usage when it ends. In Node its parent cannot get that from the system.
 *
 * @param {string} file
 * @returns {{ args: readonly string[], env: Readonly<Record<string, string>> }} `args` come before the script
 */
export function reportingUsage(file) {
  return { args: ['--import', reportUsage], env: { BENCH_USAGE_FILE: file } };
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
 * @returns {Promise<Usage & { wallMs: number }>}
 */
export async function measureScript(args, { usageFile, cwd, env }) {
  const reporting = reportingUsage(usageFile);
  const wallMs = await timeCommand(process.execPath, [...reporting.args, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { ...env, ...reporting.env },
  });
  return { wallMs, ...(await takeUsage(usageFile)) };
}
