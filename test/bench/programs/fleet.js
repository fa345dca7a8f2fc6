// @ts-check
/** What both programs of the scenario `fleet` do: its members continue until the process ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { noOutcomes } from '../../../dist/src/domain/terms.js';
import { openRedis } from '../../../dist/src/engine/datastore/redis/redis.js';
import { atOnce } from '../measure/at-once.js';
import { startUsage } from '../measure/redis.js';

/**
 * @typedef {object} Fleet
 * @property {string} queue the address of a Redis
 * @property {number} members
 * @property {number} seconds to measure
 */

export const baseUrl = 'http://127.0.0.1:1';

/** What a coordinator shows of its run. */
export const run = {
  id: 'fleet',
  key: 'fleet',
  baseUrl,
  state: 'running',
  manifest: 'fleet.csv',
  rows: 1e9,
  done: 0,
  counts: noOutcomes(),
  rowsPerSecond: 0,
  coordinator: { host: 'here', pid: process.pid },
  startedAt: '',
  seenAt: '',
  rate: { text: 'auto', auto: true },
};

export async function openDatastore(/** @type {string} */ queue) {
  return (await openRedis({ url: queue, purpose: 'benchmark' })).datastore;
}

/**
 * Starts the members, and measures what they use of Redis after they have settled.
 *
 * @param {Fleet} fleet
 * @param {(index: number) => Promise<unknown>} start
 * @param {number} settleMs
 * @param {() => void} [onSettled]
 */
export async function measureMembers({ queue, members, seconds }, start, settleMs, onSettled = () => {}) {
  // They continue until the process ends.
  process.once('disconnect', () => process.exit());
  await atOnce(
    50,
    Array.from({ length: members }, (_, index) => () => start(index)),
  );
  await sleep(settleMs);
  onSettled();
  const measured = await startUsage(queue, members);
  const from = performance.now();
  await sleep(1_000 * seconds);
  return { usage: await measured(), passedMs: performance.now() - from };
}

export function fail(/** @type {Error} */ error) {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
}
