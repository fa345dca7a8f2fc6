// @ts-check
import { Redis } from 'ioredis';

/**
 * What members of a fleet use of a core, in percent, and of Redis.
 *
 * @typedef {object} FleetUsage
 * @property {number} commandsPerSecond including those that scripts call
 * @property {number} redisPercent of all members together
 * @property {number} redisPercentEach
 * @property {number} memberPercent each in its own process, where all members are in this one
 */

/**
 * Measures what the members in this process use, from now until the returned function is called.
 *
 * @param {string} url of Redis
 * @param {number} members
 * @returns {Promise<() => Promise<FleetUsage>>}
 */
export async function startUsage(url, members) {
  const client = new Redis(url);
  const look = async () => {
    const info = await client.info('everything');
    const number = (/** @type {string} */ field) =>
      Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1]);
    const own = process.cpuUsage();
    return {
      at: performance.now(),
      commands: number('total_commands_processed'),
      redisMs: 1_000 * (number('used_cpu_user') + number('used_cpu_sys')),
      ownMs: (own.user + own.system) / 1_000,
    };
  };
  const before = await look();
  return async () => {
    const after = await look();
    client.disconnect();
    const passedMs = after.at - before.at;
    const redisPercent = (100 * (after.redisMs - before.redisMs)) / passedMs;
    return {
      commandsPerSecond: (1_000 * (after.commands - before.commands)) / passedMs,
      redisPercent,
      redisPercentEach: redisPercent / members,
      memberPercent: (100 * (after.ownMs - before.ownMs)) / passedMs / members,
    };
  };
}
