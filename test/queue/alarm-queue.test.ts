import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Datastore } from '../../src/datastore/datastore.ts';
import type { Alarm } from '../../src/queue/alarm-queue.ts';
import { built } from '../helpers/built.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';

const { openAlarmQueue } = await built<typeof import('../../src/queue/alarm-queue.ts')>('queue/alarm-queue');
const { openEmbedded } = await built<typeof import('../../src/datastore/embedded/embedded.ts')>(
  'datastore/embedded/embedded',
);
const { openRedis } =
  await built<typeof import('../../src/datastore/redis/redis.ts')>('datastore/redis/redis');

/** An alarm that rings each tenth of a second; BullMQ asks for its times only. */
const often = (name: string, id = `${name}-1`): Alarm => ({ id, name, pattern: '100', tz: 'Europe/London' });

const until = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 120_000, interval: 20 });

function describeAlarms(open: () => Promise<Datastore>): void {
  let datastore: Datastore;
  beforeAll(async () => {
    datastore = await open();
  });
  afterAll(() => datastore.close());

  function openQueue(queue: string) {
    const rung: string[] = [];
    const asked: string[] = [];
    const errors: Error[] = [];
    const alarms = openAlarmQueue({
      datastore,
      queue,
      next: async (pattern, tz, afterMs) => {
        asked.push(`${pattern} ${tz}`);
        return afterMs + Number(pattern);
      },
      onRing: async (name) => rung.push(name),
      onError: (error) => errors.push(error),
    });
    return { rung, asked, errors, ...alarms };
  }

  test('ring at the times that they were given, until they are taken away', async () => {
    const queue = openQueue('rings');
    await queue.keep([often('a'), often('b')]);
    await until(() => ['a', 'b'].every((name) => queue.rung.filter((each) => each === name).length > 2));
    // Kept again as they are, they go on as they did.
    await queue.keep([often('a'), often('b')]);
    await queue.keep([often('b')]);
    const before = queue.rung.filter((name) => name === 'a').length;
    await until(() => queue.rung.slice(-3).join('') === 'bbb');
    // One of them may have been on its way.
    expect(queue.rung.filter((name) => name === 'a').length).toBeLessThanOrEqual(before + 1);
    expect(new Set(queue.asked)).toEqual(new Set(['100 Europe/London']));
    expect(queue.errors).toEqual([]);
    await queue.close();
  });

  test('ring in one of the processes that share them, and go on in the one that is left', async () => {
    const [one, other] = [openQueue('shared'), openQueue('shared')];
    await Promise.all([one.keep([often('a')]), other.keep([often('a')])]);
    await until(() => one.rung.length + other.rung.length > 4);
    await one.close();
    const before = other.rung.length;
    await until(() => other.rung.length > before + 2);
    await other.close();
  });

  test('that are changed ring as they are now, without a pause', async () => {
    const queue = openQueue('changed');
    await queue.keep([{ ...often('a'), pattern: '3600000' }]);
    await queue.keep([often('a', 'a-2')]);
    await until(() => queue.rung.length > 2);
    await queue.close();
  });
}

describe('alarms on the embedded datastore', () => {
  describeAlarms(async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'cqbatch-alarms-'));
    return openEmbedded({ stateDir, purpose: 'alarms' });
  });
});

describeWithRedis('alarms on Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeAlarms(async () => (await openRedis({ url: redis.url, purpose: 'alarms' })).datastore);
});
