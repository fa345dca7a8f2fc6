import { Redis } from 'ioredis';
import { afterAll, beforeAll, type ExpectStatic, test } from 'vitest';
import { repeat } from '../../../src/base/async/repeat.ts';
import { deferred, neverAborted } from '../../../src/base/async/waiting.ts';
import { noHistory } from '../../../src/domain/attempts.ts';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { openBatchQueue } from '../../../src/engine/queue/batch-queue.ts';
import type { CollectedBatch } from '../../../src/engine/queue/batch-queue-options.ts';
import { BatchWorker } from '../../../src/engine/queue/batch-worker.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { callFor, resultsOf, taskOf } from './tasks.ts';
import { newBatch, unheard } from './unheard.ts';

const names = [
  'meta',
  'wait',
  'prioritized',
  'active',
  'delayed',
  'waiting-children',
  'stalled',
  'events',
  'pc',
  'marker',
  'id',
];
const ofJobs = ['', ':logs', ':lock', ':dependencies', ':processed'];
const keys = [...names.map((name) => `:${name}`), ...ofJobs.map((name) => `:<job>${name}`)];
const queues = ['rows', 'batches'] as const;

describeWithRedis('a key of Redis that is deleted in mid-run', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis({ port: server.port });
  });
  afterAll(() => {
    admin.disconnect();
    return server.stop();
  });

  /**
   * Row 1 is done, row 2 in a call and row 3 not called when a key is deleted; another batch waits.
   *
   * @param when during a call, or while the coordinator collects the batch
   */
  async function play(
    expect: ExpectStatic,
    queue: (typeof queues)[number],
    key: string,
    when: 'call' | 'collection',
  ) {
    const prefix = `${queue}${key}${when}`.replaceAll(/[^a-z]/g, '-');
    const { datastore } = await openRedis({ url: server.url, prefix, purpose: 'test' });
    const rows = openRowQueue(datastore, { baseUrl: 'rows' });
    const told = new Map<number, { unclear: boolean; isDone: boolean }>();
    const collecting = deferred();
    const mayCollect = deferred();
    if (when === 'call') mayCollect.resolve();
    const batches = await openBatchQueue(datastore, {
      ...unheard('r', rows),
      compareEveryMs: 50,
      async collect({ results, unfinishedRows, missingRows }: CollectedBatch) {
        collecting.resolve();
        await mayCollect.promise;
        for (const { row, unclear } of resultsOf(results)) told.set(row, { unclear, isDone: true });
        for (const { row, history } of unfinishedRows)
          told.set(row, { unclear: history?.unclear === true, isDone: false });
        for (const row of missingRows) told.set(row, { unclear: true, isDone: false });
      },
    });
    const calling = deferred();
    const mayAnswer = deferred();
    const calls = new Map<number, number>();
    const worker = new BatchWorker(datastore, rows, {
      concurrency: 1,
      prepare: callFor,
      async process({ row, operation, history = noHistory }, claim) {
        if (!(await claim.intend())) return { kind: 'returned', history, delayMs: 60_000 };
        calls.set(row, (calls.get(row) ?? 0) + 1);
        if (row === 2 && calls.get(row) === 1) {
          calling.resolve();
          await mayAnswer.promise;
        }
        const { attempts, unclear } = history;
        const done = {
          outcome: 'succeeded',
          code: 'OK',
          message: '',
          attempts: attempts + 1,
          unclear,
        } as const;
        return { kind: 'finished', result: { row, operation, ...done } };
      },
      onRefused: ({ message }) => expect.unreachable(message),
      onError() {},
    });
    await batches.add(
      newBatch(
        'r',
        [1, 2, 3].map((row) => taskOf(row)),
      ),
      neverAborted,
    );
    await calling.promise;
    await batches.add(
      newBatch(
        'r',
        [4, 5].map((row) => taskOf(row)),
      ),
      neverAborted,
    );
    if (when === 'collection') {
      mayAnswer.resolve();
      await collecting.promise;
    }
    const base = `{${prefix}}:${queue === 'rows' ? rows.name : 'batches-r'}`;
    const [full = ''] = (await admin.keys(`${base.replace('{', '\\{')}:r-b-*:lock`)).concat(
      await admin.keys(`${base}:r-b-*`),
    );
    const id = /:(r-b-[0-9a-f-]{36})/.exec(full)?.[1] ?? '';
    await admin.del(base + key.replace('<job>', id));
    mayAnswer.resolve();
    mayCollect.resolve();
    const refreshes = repeat(() => batches.refresh(), { everyMs: 50 });
    await expect.poll(() => [...told.keys()].toSorted()).toEqual([1, 2, 3, 4, 5]);
    await refreshes.stop();
    await worker.stop(0);
    await batches.close();
    await rows.close();
    await datastore.close();
    return { told, calls };
  }

  const scenes = queues.flatMap((queue) =>
    keys.flatMap((key) => (['call', 'collection'] as const).map((when) => [queue, key, when] as const)),
  );

  test.concurrent.for(scenes)(
    '%s%s, at a %s: each row is told, and a call without a result is marked',
    async (scene, { expect }) => {
      const { told, calls } = await play(expect, ...scene);
      const silent = [...calls].filter(([row, times]) => {
        const { isDone = false, unclear = false } = told.get(row) ?? {};
        return !unclear && times !== (isDone ? 1 : 0);
      });
      expect(silent).toEqual([]);
    },
  );
});
