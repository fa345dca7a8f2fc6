import type { Redis } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRedisClient, type Role } from '../../../../src/engine/datastore/redis/client.ts';
import {
  adminOf,
  describeWithRedis,
  heard,
  type RedisServer,
  redisForTest,
} from '../../../helpers/redis-server.ts';

const hundred = Array.from({ length: 100 }, (_, index) => index + 1);

/** Sends a hundred commands at once, and counts the writes to the socket. */
async function countWrites(client: Redis): Promise<number> {
  const spies = [vi.spyOn(client.stream, '_write'), vi.spyOn(client.stream, '_writev')];
  await client.set('counter', 0);
  const before = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  expect(await Promise.all(hundred.map(() => client.incr('counter')))).toEqual(hundred);
  return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0) - before;
}

type Pipeline = ReturnType<Redis['pipeline']>;

async function clientOf({ port }: RedisServer, role: Role): Promise<Redis> {
  const endpoint = { host: '127.0.0.1', port };
  const address = { kind: 'server', endpoint, tls: false, db: 0 } as const;
  const client = createRedisClient({ address, role, name: 'test', mayAskInfo: true });
  onTestFinished(() => client.disconnect());
  if (role === 'probe') await client.connect();
  else await heard(client, 'ready');
  return client;
}

describeWithRedis('the commands of one turn', () => {
  test.for(['probe', 'worker', 'producer'] as const)('are one write by a %s', async (role) => {
    const client = await clientOf(await redisForTest(), role);
    expect(await countWrites(client)).toBe(1);
  });

  test('are answered although the connection is lost before they are sent', async () => {
    const client = await clientOf(await redisForTest(), 'worker');
    const answers = Promise.all(hundred.map(() => client.incr('counter')));
    client.stream.destroy();
    expect(await answers).toEqual(hundred);
  });

  test('are refused, not forgotten, if a producer loses the connection before they are sent', async () => {
    const server = await redisForTest();
    const client = await clientOf(server, 'producer');
    const answers = Promise.allSettled(hundred.map(() => client.incr('counter')));
    client.stream.destroy();
    expect(new Set((await answers).map(({ status }) => status))).toEqual(new Set(['rejected']));
    expect(await adminOf(server).get('counter')).toBeNull();
  });

  test('are sent before the connection is closed', async () => {
    const server = await redisForTest();
    const [left, cut] = [await clientOf(server, 'worker'), await clientOf(server, 'worker')];
    const answers = Promise.all([left.incr('left'), left.quit()]);
    cut.incr('cut').catch(() => {});
    cut.disconnect();
    expect(await answers).toEqual([1, 'OK']);
    const admin = adminOf(server);
    await expect.poll(() => admin.mget('left', 'cut')).toEqual(['1', '1']);
  });
});

describeWithRedis('a Redis that refuses many commands at once', () => {
  test.each(['worker', 'producer'] as const)('makes a %s connect again, with one listener', async (role) => {
    const server = await redisForTest();
    const client = await clientOf(server, role);
    const admin = adminOf(server);
    await admin.call('REPLICAOF', '127.0.0.1', '1');
    const socket = client.stream;
    const ended = heard(client, 'close');
    const answers = Promise.allSettled(hundred.map((key) => client.set(`key-${key}`, '1')));
    let added = 0;
    socket.on('newListener', (event) => {
      if (event === 'close') added += 1;
    });
    await ended;
    expect(added).toBe(1);
    await admin.call('REPLICAOF', 'NO', 'ONE');
    const states = new Set((await answers).map(({ status }) => status));
    expect(states).toEqual(new Set([role === 'worker' ? 'fulfilled' : 'rejected']));
  });
});

/** Keeps a text under a key, as BullMQ's scripts do: a script that ioredis sends by digest where it can. */
const keep = { numberOfKeys: 1, lua: "return redis.call('SET', KEYS[1], ARGV[1])" };

type Keeping<Owner> = Owner & { keep(key: string, text: string): Owner & Promise<unknown> };

describeWithRedis('a script that Redis has forgotten', () => {
  test.each(['worker', 'producer'] as const)(
    'is sent again by a %s, alone, in a pipeline and in a transaction',
    async (role) => {
      const client = await clientOf(await redisForTest(), role);
      client.defineCommand('keep', keep);
      const scripts = client as unknown as Keeping<typeof client>;
      const ways = {
        alone: () => scripts.keep('alone', 'x'),
        pipeline: () => (client.pipeline() as unknown as Keeping<Pipeline>).keep('pipeline', 'x').exec(),
        transaction: () => (client.multi() as unknown as Keeping<Pipeline>).keep('transaction', 'x').exec(),
      };
      for (const [key, send] of Object.entries(ways)) {
        for (const _ of [1, 2, 3]) {
          await client.del(key);
          await send();
          expect({ [key]: await client.get(key) }).toEqual({ [key]: 'x' });
          await client.script('FLUSH');
        }
      }
    },
  );
});
