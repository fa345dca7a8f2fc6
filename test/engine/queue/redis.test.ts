import { afterAll, expect, test } from 'vitest';
import { noHistory } from '../../../src/domain/attempts.ts';
import { type OpenedRedis, openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { openBatchQueue } from '../../../src/engine/queue/batch-queue.ts';
import { BatchWorker } from '../../../src/engine/queue/batch-worker.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import {
  adminOf,
  describeWithRedis,
  describeWithValkey,
  type RedisServer,
  redisForTest,
  startRedis,
} from '../../helpers/redis-server.ts';
import { describeQueueOn } from './conformance.ts';
import { callFor, taskOf } from './tasks.ts';
import { newBatch, unheard } from './unheard.ts';

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

  const openLeast = async () => {
    const user = 'user batch on >secret ~{cqbatch}:* +@all -@dangerous';
    const { port } = await start({
      args: user.split(' ').map((word, index) => (index === 0 ? `--${word}` : word)),
    });
    return open(`redis://batch:secret@127.0.0.1:${port}/0`);
  };
  describeQueueOn('a Redis with the least permissions', openLeast, 'each command');

  test('batches are added, called and collected although Redis forgets its scripts again and again', async () => {
    const server = await redisForTest();
    const admin = adminOf(server);
    const { datastore } = await openRedis({ url: server.url, purpose: 'test' });
    const rows = openRowQueue(datastore, { baseUrl: 'rows' });
    const collected: number[] = [];
    const errors: string[] = [];
    const onError = ({ message }: Error): void => void errors.push(message);
    const batches = await openBatchQueue(datastore, {
      ...unheard('r', rows),
      onError,
      collect: async ({ unfinishedRows }) => void collected.push(...unfinishedRows.map(({ row }) => row)),
    });
    const worker = new BatchWorker(datastore, rows, {
      concurrency: 10,
      prepare: callFor,
      async process({ row }, claim) {
        if (row % 3 === 1) await admin.script('FLUSH');
        await claim.intend();
        return { kind: 'returned', history: noHistory, delayMs: 60_000 };
      },
      onRefused() {},
      onError,
    });
    const numbers = Array.from({ length: 9 }, (_, index) => index + 1);
    for (const row of numbers) {
      await admin.script('FLUSH');
      await batches.add(newBatch('r', [taskOf(row)]), new AbortController().signal);
    }
    await expect.poll(() => collected.toSorted((a, b) => a - b)).toEqual(numbers);
    // A script that is forgotten once more between its loading and its use fails, and its caller tries again.
    expect(errors.filter((message) => !message.startsWith('NOSCRIPT'))).toEqual([]);
    await worker.stop(0);
    await batches.forget();
    await batches.close();
    await rows.close();
    await datastore.close();
  });

  test('a run that ends while its connections are replaced is forgotten', async () => {
    const server = await redisForTest();
    const { datastore } = await openRedis({ url: server.url, purpose: 'test' });
    const rows = openRowQueue(datastore, { baseUrl: 'rows' });
    const batches = await openBatchQueue(datastore, unheard('r', rows));
    const admin = adminOf(server);
    await expect.poll(async () => String(await admin.client('LIST'))).toContain('cmd=bzpopmin');
    await server.kill();
    await expect.poll(() => datastore.trouble).toBeDefined();
    const forgotten = batches.forget();
    await server.restart();
    await forgotten;
    await batches.close();
    await rows.close();
    await datastore.close();
  });
});

describeWithValkey('Valkey', (program) => {
  let server: RedisServer | undefined;
  afterAll(() => server?.stop());

  describeQueueOn('Valkey', async () => {
    server = await startRedis({ program });
    return (await openRedis({ url: server.url, purpose: 'conformance tests' })).datastore;
  });
});
