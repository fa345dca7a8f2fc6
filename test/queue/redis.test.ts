import { afterAll } from 'vitest';
import { type OpenedRedis, openRedis } from '../../src/datastore/redis/redis.ts';
import { assignSlots, describeWithRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { describeQueueOn } from './conformance.ts';

describeWithRedis('Redis', () => {
  const servers: RedisServer[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const start: typeof startRedis = async (options) => {
    const server = await startRedis(options);
    servers.push(server);
    return server;
  };
  const open = async (url: string): Promise<OpenedRedis['datastore']> =>
    (await openRedis({ url, purpose: 'conformance tests' })).datastore;

  describeQueueOn('Redis', async () => open((await start()).url));

  describeQueueOn('a Redis Cluster', async () => {
    const server = await start({ cluster: true });
    await assignSlots(server);
    return open(`redis+cluster://127.0.0.1:${server.port}`);
  });

  describeQueueOn('a Redis that allows the least', async () => {
    const user = 'user batch on >secret ~{cqbatch}:* +@all -@dangerous';
    const { port } = await start({
      args: user.split(' ').map((word, index) => (index === 0 ? `--${word}` : word)),
    });
    return open(`redis://batch:secret@127.0.0.1:${port}/0`);
  });
});
