// @ts-check
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { plainEnvironment, startCommand } from './child.js';

/**
 * An empty server, which writes to disk like that of a careful administrator.
 *
 * @typedef {object} RedisServer
 * @property {string} url
 * @property {() => Promise<RedisMemory>} memory
 * @property {() => Promise<number>} cpuMs CPU time that the server has taken since its start, all threads, user and system
 */

/**
 * The memory of the server's data, buffers and connections, as it reports it, in MB (10^6 bytes).
 *
 * @typedef {object} RedisMemory
 * @property {number} used now
 * @property {number} peak the most since its start; measured after each command
 */

/**
 * What members of a fleet use of a core, in percent, and of Redis.
 *
 * @typedef {object} FleetUsage
 * @property {number} commandsPerSecond including those that scripts call
 * @property {number} redisPercent of all members together
 * @property {number} redisPercentEach
 * @property {number} memberPercent each in its own process, where all members are in this one
 */

const tries = 5;

/** The server program of this machine; undefined when it has no such program. */
export function redisProgram() {
  return ['redis-server', 'valkey-server'].find(
    (name) =>
      spawnSync(name, ['--version'], { env: plainEnvironment(), stdio: 'ignore' }).error === undefined,
  );
}

/**
 * @template Result
 * @param {string} folder for what the server writes; it is removed afterwards
 * @param {(redis: RedisServer) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withRedis(folder, use) {
  const own = await mkdtemp(join(folder, 'redis-'));
  const { child, port } = await start(own);
  const lost = once(child, 'exit').then(() => {
    throw new Error('The Redis server ended.');
  });
  // Killing it in the end is not a failure.
  lost.catch(() => {});
  const client = new Redis({ host: '127.0.0.1', port });
  client.on('error', () => {});
  try {
    const memory = async () => memoryIn(await client.info('memory'));
    const cpuMs = async () => cpuIn(await client.info('cpu'));
    return await Promise.race([use({ url: `redis://127.0.0.1:${port}/0`, memory, cpuMs }), lost]);
  } finally {
    client.disconnect();
    child.kill('SIGKILL');
    await lost.catch(() => {});
    await rm(own, { recursive: true, force: true });
  }
}

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
    const own = process.cpuUsage();
    return {
      at: performance.now(),
      commands: numberIn(info, 'total_commands_processed'),
      redisMs: cpuIn(info),
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

async function start(/** @type {string} */ folder) {
  const program = redisProgram();
  if (program === undefined) throw new Error('There is no Redis server.');
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const child = startCommand(
      program,
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'],
        ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'],
      ],
      { cwd: folder },
    );
    let said = '';
    const ready = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', () => resolve(false));
      child.stdout?.setEncoding('utf8').on('data', (text) => {
        said = (said + text).slice(-10_000);
        if (/ready to accept connections/i.test(said)) resolve(true);
      });
    });
    if (ready) return { child, port };
    // Another process may have taken the port first.
    if (attempt === tries) throw new Error(`${program} did not start:\n${said}`);
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return address !== null && typeof address === 'object' ? address.port : 0;
}

/** @returns {RedisMemory} */
function memoryIn(/** @type {string} */ info) {
  const megabytes = (/** @type {string} */ field) => numberIn(info, field) / 1e6;
  return { used: megabytes('used_memory'), peak: megabytes('used_memory_peak') };
}

function cpuIn(/** @type {string} */ info) {
  return 1_000 * (numberIn(info, 'used_cpu_sys') + numberIn(info, 'used_cpu_user'));
}

function numberIn(/** @type {string} */ info, /** @type {string} */ field) {
  return Number(new RegExp(`^${field}:([\\d.]+)`, 'm').exec(info)?.[1]);
}
