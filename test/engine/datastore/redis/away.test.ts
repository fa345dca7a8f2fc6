import { inspect } from 'node:util';
import { type BackendClasses, type IQueueBackend, withBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { Datastore } from '../../../../src/engine/datastore/datastore.ts';
import { openRedis } from '../../../../src/engine/datastore/redis/redis.ts';
import {
  adminOf,
  describeWithRedis,
  heard,
  type RedisServer,
  redisForTest,
} from '../../../helpers/redis-server.ts';
import { startProxy } from './proxy.ts';

interface Opened {
  readonly datastore: Datastore;
  readonly worker: Redis;
  readonly producer: Redis;
  readonly bullmq: BackendClasses<IQueueBackend, object>;
}

async function open(url: string): Promise<Opened> {
  const { datastore } = await openRedis({ url, purpose: 'tests' });
  onTestFinished(() => datastore.close());
  return {
    datastore,
    worker: datastore.connection as Redis,
    producer: datastore.producerConnection as Redis,
    bullmq: withBackend(datastore.backend),
  };
}

/** The same, on a route to a server that can be cut. */
async function openThroughProxy(server: RedisServer) {
  const proxy = await startProxy(server.port);
  return { proxy, ...(await open(`redis://127.0.0.1:${proxy.port}`)) };
}

/** A producer that adds batches of three rows, and a worker that sees the rows. */
function flowsOn({ datastore: { prefix = '' }, worker, producer, bullmq }: Opened) {
  const flows = new bullmq.FlowProducer({ connection: producer, prefix });
  const queue = new bullmq.Queue('rows', { connection: worker, prefix });
  flows.on('error', () => {});
  queue.on('error', () => {});
  onTestFinished(async () => {
    await flows.close();
    await queue.close();
  });
  const children = [1, 2, 3].map((row) => ({ name: 'row', queueName: 'rows', data: { row } }));
  return { flows, queue, add: () => flows.add({ name: 'batch', queueName: 'batches', children }) };
}

/** Changes the password of a Redis, and ends all connections that know the former one. */
async function changePassword(server: RedisServer, before: string, after: string): Promise<void> {
  const admin = adminOf(server, { password: before });
  await admin.config('SET', 'requirepass', after);
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

describeWithRedis('a Redis that goes away', () => {
  test('is waited for while it loads its data, even for opening', async () => {
    // A minute for its values, with answers in between, unless that is changed.
    const slowly = '--key-load-delay 50000 --loading-process-events-interval-bytes 1024 --rdbcompression no';
    const server = await redisForTest({ args: [...slowly.split(' '), '--appendonly', 'no'] });
    const { datastore, worker, producer } = await open(server.url);
    const values = Array.from({ length: 1_200 }, (_, value) => worker.set(`key-${value}`, 'x'.repeat(2_000)));
    await Promise.all(values);
    await worker.save();
    const lost = [heard(worker, 'reconnecting'), heard(producer, 'reconnecting')];
    await server.kill();
    await Promise.all(lost);
    const restarted = server.restart();
    const other = adminOf(server);
    await expect.poll(() => other.info('persistence')).toContain('loading:1');
    const waiting = Promise.all([worker.strlen('key-39'), producer.strlen('key-39')]);
    const clients = async () => String(await other.client('LIST')).match(/name=cqbatch-tests/g) ?? [];
    await expect.poll(clients).toHaveLength(2);
    const opening = open(server.url);
    await expect.poll(clients).toHaveLength(3);
    await other.config('SET', 'key-load-delay', '0');
    const { worker: late } = await opening;
    expect(await late.strlen('key-39')).toBe(2_000);
    expect(await waiting).toEqual([2_000, 2_000]);
    expect(datastore.trouble).toBeUndefined();
    await restarted;
  });

  test.each([
    ['goes away', (server: RedisServer) => server.kill()],
    ['stays silent', async (server: RedisServer) => void process.kill(server.pid, 'SIGSTOP')],
  ])('and %s does not prevent the datastore from closing, nor keep code waiting for it', async (_, harm) => {
    const server = await redisForTest();
    const { datastore, worker } = await open(server.url);
    await harm(server);
    const rejected = expect(worker.get('a')).rejects.toThrow('Connection is closed.');
    await datastore.close();
    await rejected;
  });
});

describeWithRedis('a lost reply', () => {
  test('is reported to producers, and nothing is sent again', async () => {
    const { proxy, producer } = await openThroughProxy(await redisForTest());
    for (const [key, send] of [
      ['single', () => producer.incr('single')],
      ['pipeline', () => producer.pipeline().incr('pipeline').incr('pipeline').exec()],
      ['transaction', () => producer.multi().incr('transaction').exec()],
      ['script', () => producer.eval("return redis.call('INCR', KEYS[1])", 1, 'script')],
    ] as const) {
      proxy.loseNextReply();
      const outcome = await send().then(
        (reply) => inspect(reply),
        (error: Error) => error.message,
      );
      expect(outcome).toContain('The connection to Redis was lost before it replied.');
      expect(await producer.get(key)).toBe(key === 'pipeline' ? '2' : '1');
    }
  });

  test('makes a worker send its command again', async () => {
    const { proxy, worker } = await openThroughProxy(await redisForTest());
    proxy.loseNextReply();
    expect(await worker.incr('n')).toBe(2);
  });
});

describeWithRedis('a Redis that refuses', () => {
  test('to write, because it has become a replica, is left for the primary behind the same name', async () => {
    const [old, young] = [await redisForTest(), await redisForTest()];
    const { proxy, ...opened } = await openThroughProxy(old);
    const { worker, producer } = opened;
    const { queue, add } = flowsOn(opened);
    await add();
    await adminOf(old).replicaof('127.0.0.1', young.port);
    proxy.target = young.port;
    expect(await worker.set('row', 'done')).toBe('OK');
    expect(await adminOf(young).get('row')).toBe('done');
    // A whole batch is refused, and so is a single command.
    await expect(add()).rejects.toThrow('READONLY');
    await add();
    expect(await queue.getWaitingCount()).toBe(3);
    await adminOf(young).replicaof('127.0.0.1', old.port);
    await expect(producer.set('batch', '1')).rejects.toThrow('READONLY');
  });

  test('for lack of memory is reported, and accepts whole batches again once there is memory', async () => {
    const server = await redisForTest();
    const opened = await open(server.url);
    const { datastore, worker } = opened;
    const { queue, add } = flowsOn(opened);
    await adminOf(server).config('SET', 'maxmemory', '1');
    await expect(add()).rejects.toThrow('EXECABORT');
    await expect(worker.set('a', '1')).rejects.toThrow('OOM');
    expect(datastore.trouble).toBe(
      `Redis at ${server.url} has no memory left: raise its maxmemory, or delete what is not needed`,
    );
    await adminOf(server).config('SET', 'maxmemory', '0');
    await add();
    expect(await queue.getWaitingCount()).toBe(3);
  });

  test('a changed password never shows the password', async () => {
    const server = await redisForTest({ args: ['--requirepass', 's3cret'] });
    const { datastore, bullmq, worker: connection } = await open(server.url.replace('://', '://:s3cret@'));
    const worker = new bullmq.Worker('q', async () => {}, { connection, prefix: datastore.prefix ?? '' });
    onTestFinished(() => worker.close(true));
    const errors: unknown[] = [];
    worker.on('error', (error) => errors.push(error));
    connection.on('error', (error) => errors.push(error));
    await worker.waitUntilReady();
    await changePassword(server, 's3cret', 'another');
    await expect
      .poll(() => errors.filter((error) => inspect(error).includes('WRONGPASS')).length)
      .toBeGreaterThan(3);
    await expect
      .poll(() => datastore.trouble)
      .toContain('refuses the password: correct CQBATCH_QUEUE_PASSWORD');
    expect(inspect([errors, datastore.trouble], { depth: 10 })).not.toContain('s3cret');
  });
});

describeWithRedis('a renewed password', () => {
  test('is read by every connection, also one that waits for work', async () => {
    const server = await redisForTest();
    await changePassword(server, '', 'first');
    let password = 'first';
    const { datastore } = await openRedis({
      url: server.url,
      password,
      passwordFile: { path: '/etc/password', readPassword: async () => password },
      purpose: 'tests',
    });
    onTestFinished(() => datastore.close());
    const { Queue, Worker } = withBackend(datastore.backend);
    const { connection, producerConnection, prefix = '' } = datastore;
    const done: string[] = [];
    const patience = { connection, prefix, runRetryDelay: 100 };
    const worker = new Worker('q', async ({ name }) => void done.push(name), patience);
    const queue = new Queue('q', { connection: producerConnection, prefix });
    onTestFinished(() => worker.close(true).then(() => queue.close()));
    worker.on('error', () => {});
    queue.on('error', () => {});
    await queue.add('before', {});
    await expect.poll(() => done).toEqual(['before']);

    await changePassword(server, 'first', 'second');
    await expect.poll(() => datastore.trouble).toContain('refuses the password: correct /etc/password');
    expect(datastore.refusal?.reason.code).toBe('REDIS_AUTH');
    password = 'second';
    await expect.poll(() => queue.add('after', {}).then(Boolean, () => false)).toBe(true);
    await expect.poll(() => done.includes('after')).toBe(true);
    await expect.poll(() => [datastore.trouble, datastore.refusal]).toEqual([undefined, undefined]);
  });
});
