import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { slotReply } from '../../../src/engine/cluster/cluster.ts';
import { timelineScripts } from '../../../src/engine/cluster/timeline-script.ts';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import {
  describeTimeline,
  expectSameAsInMemory,
  type TestedTimeline,
  timelineInMemory,
} from './timeline.conformance.ts';

describeTimeline('in memory', async () => timelineInMemory());

/** The scripts, with the clock of a test as their last argument. */
const scripts = timelineScripts('local now = tonumber(ARGV[#ARGV])');

describeWithRedis('in Redis', () => {
  let server: RedisServer;
  let datastore: Datastore;
  let opened = 0;

  beforeAll(async () => {
    server = await startRedis();
    datastore = (await openRedis({ url: server.url, purpose: 'tests' })).datastore;
  });
  afterAll(async () => {
    await datastore.close();
    await server.stop();
  });

  const open = async (): Promise<TestedTimeline> => {
    opened += 1;
    const keys = [`${datastore.prefix}:timeline-${opened}`];
    const ask = (script: string, ...args: (string | number)[]) =>
      datastore.runScript?.(script, keys, args) ?? Promise.reject(new Error('Redis runs scripts.'));
    return {
      setRate: async (now, { worker, rate, cap, restMs }) =>
        (await ask(scripts.setRate, worker, rate ?? '', cap, restMs, now)) === 1,
      take: async (now, { worker, want, held, need, active, aheadMs, leadInMs }) =>
        slotReply(
          (await ask(scripts.take, worker, want, held, need, active, aheadMs, leadInMs, now)) as string[],
        ),
    };
  };

  describeTimeline('on a server', open);

  describe('the script', () => {
    test('replies with the same numbers as the function, whatever happens', () => expectSameAsInMemory(open));

    test('uses the clock of Redis', async () => {
      const { take } = timelineScripts(
        "local time = redis.call('TIME') local now = tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000",
      );
      const reply = await datastore.runScript?.(
        take,
        [`${datastore.prefix}:clock`],
        ['w', 1, 0, 1, 0, 100, 0],
      );
      expect(Math.abs(slotReply(reply as string[]).now - Date.now())).toBeLessThan(60_000);
    });
  });
});
