import { afterAll, beforeAll, expect, test } from 'vitest';
import { deferred } from '../../../src/base/async/waiting.ts';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { openBatchQueue } from '../../../src/engine/queue/batch-queue.ts';
import type { CollectedBatch } from '../../../src/engine/queue/batch-queue-options.ts';
import { BatchWorker } from '../../../src/engine/queue/batch-worker.ts';
import { bullmqOn } from '../../../src/engine/queue/bullmq.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { callFor, taskOf } from './tasks.ts';
import { newBatch, unheard } from './unheard.ts';

describeWithRedis('a copy of a batch, as a dashboard of BullMQ adds it', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  test.each(['without its parent', 'with its parent'] as const)('%s calls nothing', async (how) => {
    const prefix = how.replaceAll(' ', '-');
    const { datastore } = await openRedis({ url: server.url, prefix, purpose: 'test' });
    const rows = openRowQueue(datastore, { baseUrl: 'rows' });
    const collected = deferred<CollectedBatch>();
    const batches = await openBatchQueue(datastore, {
      ...unheard('r', rows),
      collect: async (batch) => collected.resolve(batch),
    });
    await batches.add(
      newBatch(
        'r',
        [1, 2].map((row) => taskOf(row)),
      ),
      new AbortController().signal,
    );
    const { classes, options } = bullmqOn(datastore);
    const queue = new classes.Queue(rows.name, options);
    const [original] = await queue.getPrioritized();
    if (original === undefined) throw new TypeError('No batch waits.');
    // Without a priority it is claimed before the original.
    const copy = await queue.add(original.name, original.data, {
      jobId: 'copy',
      ...(how === 'with its parent' && original.opts.parent && { parent: original.opts.parent }),
    });
    const calls: number[] = [];
    const worker = new BatchWorker(datastore, rows, {
      concurrency: 1,
      prepare: callFor,
      async process({ row, operation }, claim) {
        await claim.intend();
        calls.push(row);
        const done = { outcome: 'succeeded', code: 'OK', message: '', attempts: 1, unclear: false } as const;
        return { kind: 'finished', result: { row, operation, ...done } };
      },
      onRefused: ({ message }) => expect.unreachable(message),
      onError() {},
    });
    const { results } = await collected.promise;
    expect(results.map(({ row }) => row).toSorted()).toEqual([1, 2]);
    await worker.stop(0);
    expect(calls.toSorted()).toEqual([1, 2]);
    expect(await queue.getJob(copy.id ?? '')).toBeUndefined();
    await Promise.all([queue.close(), batches.close()]);
    await rows.close();
    await datastore.close();
  });
});
