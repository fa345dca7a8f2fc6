import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deferred, neverAborted } from '../../../src/base/async/waiting.ts';
import { noHistory } from '../../../src/domain/attempts.ts';
import { openBatchQueue } from '../../../src/engine/queue/batch-queue.ts';
import type { CollectedBatch } from '../../../src/engine/queue/batch-queue-options.ts';
import { BatchWorker } from '../../../src/engine/queue/batch-worker.ts';
import { lockMs } from '../../../src/engine/queue/bullmq.ts';
import type { Claim } from '../../../src/engine/queue/claimed-batch.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import type { ModelConnection } from '../../simulation/model-backend.ts';
import { connectionTo, modelDatastore } from '../../simulation/model-datastore.ts';
import { QueueModel } from '../../simulation/queue-model.ts';
import { callFor, taskOf } from './tasks.ts';
import { newBatch, unheard } from './unheard.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const task = taskOf(1);

test('a row must not be called once its lock may have expired, even before the worker knows', async () => {
  const connection = connectionTo(new QueueModel(() => performance.now()));
  const back = deferred();
  let isStalled = false;
  const stalling: ModelConnection = {
    ...connection,
    ask: async (script) => {
      if (isStalled) await back.promise;
      return connection.ask(script);
    },
  };
  const datastore = modelDatastore(stalling, connection);
  const rows = openRowQueue(datastore, { baseUrl: 'rows' });
  const opening = openBatchQueue(modelDatastore(connection), unheard('r', rows));
  await vi.advanceTimersByTimeAsync(100);
  const batches = await opening;
  const started = deferred<Claim>();
  const mayEnd = deferred();
  const worker = new BatchWorker(datastore, rows, {
    concurrency: 1,
    prepare: callFor,
    async process(_task, claim) {
      if (await claim.intend()) started.resolve(claim);
      await mayEnd.promise;
      return { kind: 'returned', history: noHistory, delayMs: 60_000 };
    },
    onRefused: (reason) => expect.unreachable(reason.message),
    onError: () => {},
  });
  const adding = batches.add(newBatch('r', [task]), neverAborted);
  await vi.advanceTimersByTimeAsync(1_000);
  const claim = await started.promise;
  // A renewal that succeeds, and then only renewals without an answer.
  await vi.advanceTimersByTimeAsync(lockMs);
  isStalled = true;
  await vi.advanceTimersByTimeAsync(lockMs / 2);
  expect(claim.isWanted()).toBe(true);
  await vi.advanceTimersByTimeAsync(lockMs / 2);
  expect([claim.isWanted(), await claim.intend()]).toEqual([false, false]);

  isStalled = false;
  back.resolve();
  mayEnd.resolve();
  const stopped = Promise.all([adding, worker.stop(0), batches.close(), rows.close()]);
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});

test('whatever throws after an intent leaves an attempt that counts and is unclear, even something that is no error', async () => {
  const connection = connectionTo(new QueueModel(() => performance.now()));
  const datastore = modelDatastore(connection, connection);
  const rows = openRowQueue(datastore, { baseUrl: 'rows' });
  const collected = deferred<CollectedBatch>();
  const collect = async (batch: CollectedBatch) => collected.resolve(batch);
  const batches = openBatchQueue(datastore, { ...unheard('r', rows), collect });
  const refused: string[] = [];
  const bothThrow = deferred();
  const worker = new BatchWorker(datastore, rows, {
    concurrency: 2,
    prepare: callFor,
    async process({ row }, claim) {
      if (row === 1) {
        await claim.intend();
        bothThrow.resolve();
      } else await bothThrow.promise;
      throw row === 1 ? undefined : new Error('before its intent');
    },
    onRefused: ({ message }) => refused.push(message),
    onError: () => {},
  });
  const adding = batches.then((opened) => opened.add(newBatch('r', [task, taskOf(2)]), neverAborted));
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await collected.promise).unfinishedRows.map(({ row, history }) => [row, history])).toEqual([
    [1, { attempts: 1, unprocessed: 0, unclear: true, earlier: [{}] }],
    [2, undefined],
  ]);
  expect(refused).toEqual(['Row 1: undefined', 'Row 2: before its intent']);
  const stopped = Promise.all([
    adding,
    worker.stop(0),
    batches.then((opened) => opened.close()),
    rows.close(),
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});

test.each([
  { when: 'before a worker claims it', isClaimed: false },
  { when: 'while a worker has it', isClaimed: true },
])('a batch comes back without another call if the epoch changes $when', async ({ isClaimed }) => {
  const connection = connectionTo(new QueueModel(() => performance.now()));
  const before = { ...modelDatastore(connection), connectionEpoch: 'one' };
  let changed = (): void => {};
  const datastore = {
    ...modelDatastore(connection),
    connectionEpoch: isClaimed ? 'one' : 'two',
    onReconnect(listener: () => void) {
      changed = listener;
      return () => {};
    },
  };
  const rows = openRowQueue(before, { baseUrl: 'rows' });
  const collected = deferred<CollectedBatch>();
  const opening = openBatchQueue(before, {
    ...unheard('r', rows),
    collect: async (batch) => collected.resolve(batch),
  });
  await vi.advanceTimersByTimeAsync(100);
  const batches = await opening;
  const called: number[] = [];
  const worker = new BatchWorker(datastore, rows, {
    concurrency: 1,
    prepare: callFor,
    async process({ row }, claim) {
      if (await claim.intend()) called.push(row);
      datastore.connectionEpoch = 'two';
      changed();
      return { kind: 'returned', history: { ...noHistory, attempts: 1 } };
    },
    onRefused: (reason) => expect.unreachable(reason.message),
    onError: () => {},
  });
  const adding = batches.add(newBatch('r', [task, taskOf(2)]), neverAborted);
  await vi.advanceTimersByTimeAsync(1_000);
  const { unfinishedRows } = await collected.promise;
  expect([called, unfinishedRows.map(({ row }) => row)]).toEqual([isClaimed ? [1] : [], [1, 2]]);
  const stopped = Promise.all([adding, worker.stop(0), batches.close(), rows.close()]);
  await vi.advanceTimersByTimeAsync(60_000);
  await stopped;
});
