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

/** @typedef {{ redisPercent: number, redisPercentEach: number }} FleetUsage of a core, by all members together and by each */

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
  const { server, port } = await start(own);
  const client = new Redis({ host: '127.0.0.1', port });
  client.on('error', () => {});
  try {
    const memory = async () => memoryIn(await client.info('memory'));
    const cpuMs = async () => cpuIn(await client.info('cpu'));
    return await Promise.race([use({ url: `redis://127.0.0.1:${port}/0`, memory, cpuMs }), server.lost]);
  } finally {
    client.disconnect();
    await server.end('SIGKILL', null).catch(() => {});
    await rm(own, { recursive: true, force: true });
  }
}

/**
 * Measures what members of a fleet use of Redis, from now until the returned function is called.
 *
 * @param {string} url of Redis
 * @param {number} members
 * @returns {Promise<() => Promise<FleetUsage>>}
 */
export async function startUsage(url, members) {
  const client = new Redis(url);
  const look = async () => ({ redisMs: cpuIn(await client.info('cpu')), at: performance.now() });
  const before = await look();
  return async () => {
    const after = await look();
    client.disconnect();
    const redisPercent = (100 * (after.redisMs - before.redisMs)) / (after.at - before.at);
    return { redisPercent, redisPercentEach: redisPercent / members };
  };
}

async function start(/** @type {string} */ folder) {
  const program = redisProgram();
  if (program === undefined) throw new Error('There is no Redis server.');
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const server = startCommand(
      program,
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'],
        ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec'],
      ],
      { cwd: folder },
    );
    try {
      await server.says(/ready to accept connections/i);
      return { server, port };
    } catch (error) {
      // Another process may have taken the port first.
      if (attempt === tries) throw error;
    }
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
