import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { inspect, promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { CqbatchError } from '../../../../src/base/errors/errors.ts';
import {
  type OpenedRedis,
  openRedis,
  type RedisOptions,
} from '../../../../src/engine/datastore/redis/redis.ts';
import {
  describeWithRedis,
  type RedisServer,
  redisForTest,
  type StartOptions,
} from '../../../helpers/redis-server.ts';
import { socketServer } from '../../api/local-server.ts';

const password = 's3cret/@ü';
const encoded = encodeURIComponent(password);

async function open(url: string, options: Partial<RedisOptions> = {}): Promise<OpenedRedis> {
  const opened = await openRedis({ url, purpose: 'run 1', ...options });
  onTestFinished(() => opened.datastore.close());
  return opened;
}

async function refusal(url: string, options: Partial<RedisOptions> = {}): Promise<CqbatchError> {
  const error = await open(url, options).then(
    () => new Error('It was opened.'),
    (reason: CqbatchError) => reason,
  );
  expect(inspect(error, { depth: 10 })).not.toContain('s3cret');
  return error as CqbatchError;
}

function withUser(server: RedisServer, login: string): string {
  return server.url.replace('://', `://${login}@`);
}

const withPassword: StartOptions = { args: ['--requirepass', password] };
const userWith = (...rights: string[]) => ({ args: ['--user', 'ann', 'on', `>${password}`, ...rights] });
/** A user whom Redis does not tell what it is. */
const withoutInfo = userWith('~*', '+@all', '-info').args;

describeWithRedis('opening Redis', () => {
  test('returns a datastore that names its address and kind', async () => {
    const server = await redisForTest();
    const { datastore, warnings } = await open(server.url);
    expect(datastore).toMatchObject({ prefix: '{cqbatch}', exclusive: false });
    expect(datastore.description).toMatch(/^(Redis|Valkey) \d+\.\d+\.\d+ at redis:\/\/127\.0\.0\.1:\d+\/0$/);
    expect([datastore.trouble, warnings]).toEqual([undefined, []]);
    await datastore.maintain();
  });

  test('refuses a database that does not exist, for which ioredis would use another', async () => {
    const server = await redisForTest();
    const error = await refusal(server.url.replace('/0', '/99'));
    expect(error).toMatchObject({ kind: 'fatal', code: 'REDIS_DATABASE' });
  });

  test('works through a socket', async () => {
    const server = await redisForTest({ socket: true });
    const { datastore } = await open(`${server.url}?db=1`);
    expect(datastore.description).toContain(`at unix://${join(server.folder, 'redis.sock')}?db=1`);
  });
});

describeWithRedis('logging in to Redis', () => {
  test.for<[claim: string, server: StartOptions, login: string, options: Partial<RedisOptions>]>([
    ['the password of the address', withPassword, `:${encoded}`, {}],
    ['a separate password, which takes precedence over the address', withPassword, ':wrong', { password }],
    ['an ACL user with a separate password', userWith('~*', '+@all'), 'ann', { password }],
  ])('works with %s, and never shows it', async ([, options, login, more]) => {
    const server = await redisForTest(options);
    const { datastore, warnings } = await open(withUser(server, login), more);
    expect(warnings).toEqual([]);
    expect(datastore.description).toMatch(/at redis:\/\/127\.0\.0\.1:\d+\/0$/);
  });

  test.for<[claim: string, server: StartOptions, login: string, code: string]>([
    ['a wrong password', withPassword, ':s3cret', 'REDIS_AUTH'],
    ['no right to scripts', userWith('~*', '+@all', '-eval'), `ann:${encoded}`, 'REDIS_PERMISSION'],
    [
      'no right to blocking reads',
      userWith('~*', '+@all', '-bzpopmin'),
      `ann:${encoded}`,
      'REDIS_PERMISSION',
    ],
    ['a right only to other keys', userWith('~other:*', '+@all'), `ann:${encoded}`, 'REDIS_PERMISSION'],
  ])('is refused with %s', async ([, options, login, code]) => {
    const server = await redisForTest(options);
    expect(await refusal(withUser(server, login))).toMatchObject({ kind: 'fatal', code });
  });

  test('works without the right to ask INFO, with a warning', async () => {
    const server = await redisForTest(userWith('~{cqbatch}:*', '+@all', '-@dangerous'));
    const { datastore, warnings } = await open(withUser(server, `ann:${encoded}`));
    expect(warnings).toEqual([
      expect.stringMatching(/INFO.*could not be checked.*"ACL SETUSER <user> \+info"/),
    ]);
    expect(datastore.description).toMatch(/^Redis at redis:/);
  });
});

describeWithRedis('a Redis that the queue cannot use is refused:', () => {
  test.for<[claim: string, args: (primary: RedisServer) => string[], code: string]>([
    ['a replica', ({ port }) => ['--replicaof', '127.0.0.1', String(port)], 'REDIS_REPLICA'],
    ['one that is full', () => ['--maxmemory', '1'], 'REDIS_FULL'],
  ])('%s, without permission for INFO', async ([, args, code]) => {
    const server = await redisForTest({ args: [...withoutInfo, ...args(await redisForTest())] });
    expect((await refusal(withUser(server, `ann:${encoded}`))).code).toBe(code);
  });

  test.for<[claim: string, login: string, database: number]>([
    ['a part of a Cluster, with another database than 0', '', 1],
    ['a part of a Cluster, without permission for INFO', `ann:${encoded}`, 0],
  ])('%s', async ([, login, database]) => {
    const server = await redisForTest({ args: ['--cluster-enabled', 'yes', ...withoutInfo] });
    const error = await refusal(withUser(server, login).replace(/0$/, String(database)));
    expect(error).toMatchObject({ kind: 'fatal', code: 'REDIS_CLUSTER' });
    expect(error.message).toMatch(/Redis Cluster, which cqbatch does not support: use a Redis or Valkey/);
  });

  test.for<[claim: string, args: string[], code: string]>([
    ['one that evicts', ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'], 'REDIS_EVICTION'],
    ['one that misses its replicas', ['--min-replicas-to-write', '1'], 'REDIS_READ_ONLY'],
  ])('%s', async ([, args, code]) => {
    const server = await redisForTest({ args });
    expect(await refusal(server.url)).toMatchObject({ kind: 'fatal', code });
  });
});

describeWithRedis('TLS', () => {
  test('is refused when the certificate is not trusted', async () => {
    const server = await redisForTest({ tls: true });
    const error = await refusal(server.url);
    expect(error.code).toBe('REDIS_TLS');
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS');
  });

  test.for(['127.0.0.1', 'localhost'])('works with NODE_EXTRA_CA_CERTS, for %s', async (host) => {
    const server = await redisForTest({ tls: true });
    const url = server.url.replace('127.0.0.1', host);
    const module = new URL('../../../../dist/src/engine/datastore/redis/redis.js', import.meta.url);
    const program = `
      import { openRedis } from ${JSON.stringify(module.href)};
      const { datastore } = await openRedis({ url: ${JSON.stringify(url)}, purpose: 'test' });
      console.log(datastore.description);
      await datastore.close();`;
    // Node reads the variable when it starts.
    const env = { NODE_EXTRA_CA_CERTS: join(server.folder, 'cert.pem') };
    const args = ['--input-type=module', '-e', program];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
    expect(stdout).toContain(`at ${url}`);
    expect(stderr).toBe('');
  });

  test('is suggested where the server only speaks TLS, and questioned where it does not', async () => {
    const speaking = await refusal((await redisForTest({ tls: true })).url.replace('rediss', 'redis'));
    expect(speaking).toMatchObject({ code: 'REDIS_UNREACHABLE' });
    expect(speaking.message).toContain('write rediss:// instead of redis://');
    const other = await refusal((await redisForTest()).url.replace('redis', 'rediss'));
    expect(other.message).toContain('whether it speaks TLS there');
  });
});

const http = 'HTTP/1.1 400 Bad Request\r\n\r\n';

describeWithRedis('a Redis that cannot be reached is reported:', () => {
  test.for<[claim: string, url: () => Promise<string>, message: RegExp]>([
    ['the host name does not exist', async () => 'redis://nowhere.invalid', /host name does not resolve/],
    ['the host stays silent', () => listen(() => {}), /accepts the connection but does not answer/],
    [
      'another service answers',
      () => listen((socket) => socket.write(http)),
      /another service may be listening/,
    ],
    ['the host hangs up', () => listen((socket) => socket.destroy()), /closes the connection/],
  ])('%s', async ([, url, message]) => {
    const error = await refusal(await url());
    expect(error).toMatchObject({ kind: 'fatal', code: 'REDIS_UNREACHABLE' });
    expect(error.message).toMatch(message);
  });
});

/** The address of a server that is not Redis. */
async function listen(talk: (socket: Socket) => void): Promise<string> {
  return (await socketServer(talk)).replace('http://', `redis://:${encoded}@`);
}
