import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { selfSigned } from '../engine/api/self-signed.ts';
import { describeWhereFound, describeWithProgram } from './describe-with-program.ts';
import { freePort } from './free-port.ts';
import { findProgram } from './program.ts';

export interface StartOptions {
  /** Default: the first of `redis-server` and `valkey-server` that exists. */
  readonly program?: string | undefined;
  /** Added to the command line: `['--requirepass', 'secret']`. */
  readonly args?: readonly string[];
  /** Listens on a socket in its folder instead of a port. */
  readonly socket?: boolean;
  /** Speaks TLS, with a certificate for localhost that no client trusts by default. */
  readonly tls?: boolean;
  /** A Sentinel that watches this primary under the name `mymaster`. */
  readonly sentinelOf?: RedisServer;
}

/** A real server on loopback, in its own folder. */
export interface RedisServer {
  /** Without a password. */
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  /** Stops it like a power cut: without notice to anything. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder, after `kill`. */
  restart(): Promise<void>;
  /** Stops it and removes its folder. Idempotent. */
  stop(): Promise<void>;
}

/** Servers that speak Redis, the better known first. */
const servers = ['redis-server', 'valkey-server'];

/** The Redis server of this machine; undefined when it has no such program. */
export const redisProgram = findProgram(servers);

/** A `describe` for tests that need a Redis server (see `describeWithProgram`). */
export function describeWithRedis(title: string, body: () => void): void {
  describeWithProgram(servers, title, body);
}

/**
 * A `describe` for what must also hold on Valkey. Debian 12 has no Valkey, so without it these tests are skipped even under CI;
 * they are also skipped where Valkey is the only server, because all tests then run on it.
 *
 * @param body is given the program, for `startRedis`
 */
export function describeWithValkey(title: string, body: (program: string) => void): void {
  const program = 'valkey-server';
  const missing =
    redisProgram === program
      ? 'all tests of Redis run on Valkey here'
      : findProgram([program]) === undefined
        ? `not installed: ${program}`
        : undefined;
  describeWhereFound(missing, title, () => body(program));
}

/** A server that stops after the test. */
export async function redisForTest(options: StartOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

/**
 * A separate client with the rights of an administrator, until the test ends. It even talks to a Redis that is loading its
 * data.
 */
export function adminOf({ port }: RedisServer, options: { db?: number; password?: string } = {}): Redis {
  const client = new Redis({ port, enableReadyCheck: false, ...options });
  client.on('error', () => {});
  onTestFinished(() => client.disconnect());
  return client;
}

/** A primary with a replica that follows it, watched by a Sentinel that has seen both. They stop after the test. */
export async function replicatedRedis() {
  const primary = await redisForTest({ args: ['--repl-diskless-sync-delay', '0'] });
  const replica = await redisForTest({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  const ofReplica = adminOf(replica);
  await expect.poll(() => ofReplica.info('replication')).toContain('master_link_status:up');
  const sentinel = await redisForTest({ sentinelOf: primary });
  const control = adminOf(sentinel);
  // Otherwise it looks only every ten seconds; an old Sentinel does not know the command.
  await control.call('SENTINEL', 'DEBUG', 'INFO-PERIOD', '200').catch(() => {});
  await expect.poll(() => control.call('SENTINEL', 'REPLICAS', 'mymaster')).toHaveLength(1);
  return { primary, ofReplica, control, url: `redis+sentinel://127.0.0.1:${sentinel.port}/mymaster` };
}

/** Where the log of a Redis ends: what is written after it can be forgotten. */
export async function endOfLog({
  folder,
}: RedisServer): Promise<{ readonly file: string; readonly bytes: number }> {
  const logs = join(folder, 'appendonlydir');
  const numberOf = (name: string): number => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1] ?? 0);
  const [name = ''] = (await readdir(logs)).toSorted((a, b) => numberOf(b) - numberOf(a));
  const file = join(logs, name);
  return { file, bytes: (await stat(file)).size };
}

/** Waits for an event. Unlike `once` of `node:events` it does not end the wait at an `error`. */
export function heard<Value>(
  emitter: { once(event: string, listener: (value: Value) => void): unknown },
  event: string,
): Promise<Value> {
  return new Promise((resolve) => {
    emitter.once(event, resolve);
  });
}

/** Starts a server and waits until it answers; the caller stops it. */
export async function startRedis(options: StartOptions = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'cqbatch-redis-'));
  if (options.tls === true) {
    await writeFile(join(folder, 'cert.pem'), selfSigned.cert);
    await writeFile(join(folder, 'key.pem'), selfSigned.key);
  }
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    const args = await argumentsOf(options, folder, port);
    try {
      const start = () => launch(options.program ?? redisProgram, args, folder);
      return runningServer(await start(), start, { folder, port, url: urlOf(options, folder, port) });
    } catch (error) {
      // Another process took the port first.
      if (tries < 5 && String(error).includes('in use')) continue;
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }
}

function runningServer(
  first: ChildProcess,
  start: () => Promise<ChildProcess>,
  place: Pick<RedisServer, 'folder' | 'port' | 'url'>,
): RedisServer {
  let child = first;
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    ...place,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async restart() {
      await kill();
      child = await start();
    },
    async stop() {
      await kill();
      await rm(place.folder, { recursive: true, force: true });
    },
  };
}

async function argumentsOf(options: StartOptions, folder: string, port: number): Promise<string[]> {
  const { args = [], sentinelOf } = options;
  if (sentinelOf !== undefined) {
    const file = join(folder, 'sentinel.conf');
    await writeFile(
      file,
      `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor mymaster 127.0.0.1 ${sentinelOf.port} 1\n`,
    );
    return [file, '--sentinel', ...args];
  }
  const listen =
    options.socket === true
      ? ['--port', '0', '--unixsocket', socketIn(folder)]
      : options.tls === true
        ? ['--port', '0', '--tls-port', String(port), ...tlsArguments(folder)]
        : ['--port', String(port)];
  return [
    ...[...listen, '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'],
    ...['--save', '', '--appendonly', 'yes', ...args],
  ];
}

function tlsArguments(folder: string): string[] {
  const cert = join(folder, 'cert.pem');
  return [
    ...['--tls-cert-file', cert, '--tls-key-file', join(folder, 'key.pem'), '--tls-ca-cert-file', cert],
    ...['--tls-auth-clients', 'no'],
  ];
}

function socketIn(folder: string): string {
  return join(folder, 'redis.sock');
}

function urlOf({ socket, tls }: StartOptions, folder: string, port: number): string {
  if (socket === true) return `unix://${socketIn(folder)}`;
  return `redis${tls === true ? 's' : ''}://127.0.0.1:${port}/0`;
}

/** Starts the program and waits until it reports that it is ready. */
async function launch(
  program: string | undefined,
  args: readonly string[],
  folder: string,
): Promise<ChildProcess> {
  if (program === undefined) throw new Error('There is no redis-server and no valkey-server.');
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  // For a test process that ends before its tests do.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const tooLate = setTimeout(kill, 300_000);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${program} did not start:\n${said.join('\n')}`)));
    lines.on('line', (line) => {
      said.push(line);
      if (/ready to accept connections|\+monitor/i.test(line)) resolve();
    });
  }).finally(() => clearTimeout(tooLate));
  return child;
}
