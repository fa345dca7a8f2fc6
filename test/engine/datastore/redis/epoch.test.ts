import type { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { epochOf } from '../../../../src/engine/datastore/redis/epoch.ts';
import { openRedis } from '../../../../src/engine/datastore/redis/redis.ts';
import { adminOf, describeWithRedis, heard, redisForTest } from '../../../helpers/redis-server.ts';

describeWithRedis('an epoch of Redis', () => {
  test('is the same for all processes, until data may have been lost', async () => {
    const server = await redisForTest();
    const open = async () => {
      const { datastore } = await openRedis({ url: server.url, purpose: 'tests' });
      onTestFinished(() => datastore.close());
      return datastore;
    };
    const [one, other] = [await open(), await open()];
    const first = await one.epoch();
    expect(first).toBeDefined();
    expect(await other.epoch()).toBe(first);

    const seen = [first];
    const expectAnother = async (): Promise<void> => {
      const now = await one.epoch();
      expect(now).toBeDefined();
      expect(seen).not.toContain(now);
      expect(await other.epoch()).toBe(now);
      seen.push(now);
    };
    const admin = adminOf(server);
    await admin.flushall();
    await expectAnother();

    // The data of another server, which once were ours.
    const source = await redisForTest();
    await adminOf(source).restore('{cqbatch}:epoch', 0, (await admin.dumpBuffer('{cqbatch}:epoch')) ?? '');
    await admin.call('REPLICAOF', '127.0.0.1', String(source.port));
    await expect.poll(() => admin.info('replication')).toContain('master_link_status:up');
    await admin.call('REPLICAOF', 'NO', 'ONE');
    await expectAnother();

    const reconnected = [one, other].map(({ connection }) => heard(connection as Redis, 'ready'));
    await server.restart();
    await Promise.all(reconnected);
    await expectAnother();
  });
});

test('an epoch that Redis refuses to say is unknown, and one that a lost connection leaves open is asked for again', async () => {
  const failing = (error: Error) => ({ info: () => Promise.reject(error) }) as unknown as Redis;
  const refusal = Object.assign(new Error('NOPERM'), { name: 'ReplyError' });
  expect(await epochOf(failing(refusal), 'p')).toBeUndefined();
  await expect(epochOf(failing(new Error('Connection is closed.')), 'p')).rejects.toThrow('closed');
});
