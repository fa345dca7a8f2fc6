import { withBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { type OpenedRedis, openRedis } from '../../../../src/engine/datastore/redis/redis.ts';
import {
  adminOf,
  describeWithRedis,
  heard,
  redisForTest,
  replicatedRedis,
} from '../../../helpers/redis-server.ts';

async function open(url: string): Promise<OpenedRedis> {
  const opened = await openRedis({ url, purpose: 'tests' });
  onTestFinished(() => opened.datastore.close());
  return opened;
}

describeWithRedis('Redis behind a Sentinel', () => {
  test('is found, in its database', async () => {
    const primary = await redisForTest();
    const sentinel = await redisForTest({ sentinelOf: primary });
    const { datastore } = await open(`redis+sentinel://127.0.0.1:${sentinel.port}/mymaster/2`);
    expect(datastore.description).toMatch(
      /^\w+ [\d.]+ at redis\+sentinel:\/\/127\.0\.0\.1:\d+\/mymaster\/2$/,
    );
    await (datastore.connection as Redis).set('key', 'value');
    expect(await adminOf(primary, { db: 2 }).get('key')).toBe('value');
  });

  test('is followed to its new primary', async () => {
    const { primary, ofReplica, control, url } = await replicatedRedis();
    const ofPrimary = adminOf(primary);
    const { datastore } = await open(url);
    const { Worker } = withBackend(datastore.backend);
    const { connection, producerConnection, prefix = '' } = datastore;
    const worker = new Worker('q', async () => {}, { connection, prefix });
    worker.on('error', () => {});
    onTestFinished(() => worker.close(true));
    await worker.waitUntilReady();

    const followed = [connection, producerConnection].map((client) => heard(client as Redis, 'reconnecting'));
    // It refuses until it has seen the replica.
    const failover = () =>
      control.call('SENTINEL', 'FAILOVER', 'mymaster').catch((error: Error) => error.message);
    await expect.poll(failover).toBe('OK');
    await Promise.all(followed);
    // The old primary still believes to be one.
    expect(await ofPrimary.info('replication')).toContain('role:master');
    expect(await (datastore.connection as Redis).set('key', 'value')).toBe('OK');
    expect(await ofReplica.get('key')).toBe('value');
    expect(await (producerConnection as Redis).get('key')).toBe('value');
    // BullMQ's own connection, on which the worker waits for rows, does not stay behind either.
    const waitersOf = async (client: Redis) =>
      String(await client.client('LIST')).match(/cmd=bzpopmin/g) ?? [];
    await expect.poll(() => waitersOf(ofReplica)).toHaveLength(1);
    expect(await waitersOf(ofPrimary)).toHaveLength(0);
  });

  test.for<[claim: string, path: string, message: string]>([
    ['a name that the Sentinel does not know', 'other', 'has no primary named "other"'],
    ['a database that does not exist', 'mymaster/99', 'has no database 99'],
  ])('is refused with %s', async ([, path, message]) => {
    const sentinel = await redisForTest({ sentinelOf: await redisForTest() });
    await expect(open(`redis+sentinel://127.0.0.1:${sentinel.port}/${path}`)).rejects.toThrow(message);
  });

  test('is distinguished from a Sentinel in both directions', async () => {
    const primary = await redisForTest();
    const sentinel = await redisForTest({ sentinelOf: primary });
    await expect(open(`redis+sentinel://127.0.0.1:${primary.port}/mymaster`)).rejects.toThrow(
      'is not a Sentinel',
    );
    await expect(open(sentinel.url)).rejects.toThrow('is a Sentinel: write redis+sentinel://');
  });

  test('is reached with the passwords of both', async () => {
    const primary = await redisForTest({ args: ['--requirepass', 'of-redis'] });
    const sentinel = await redisForTest({ sentinelOf: primary, args: ['--requirepass', 'of-sentinel'] });
    const options = { purpose: 'tests', password: 'of-redis' };
    const url = `redis+sentinel://127.0.0.1:${sentinel.port}/mymaster`;
    await expect(openRedis({ url, ...options })).rejects.toThrow('Set CQBATCH_SENTINEL_PASSWORD');
    const { datastore } = await openRedis({ url, ...options, sentinelPassword: 'of-sentinel' });
    await datastore.close();
    expect(datastore.description).not.toMatch(/of-(redis|sentinel)/);
  });
});
