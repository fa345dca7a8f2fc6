import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { deferred, neverAborted } from '../../../src/base/async/waiting.ts';
import type { Datastore } from '../../../src/engine/datastore/datastore.ts';
import { openBatchQueue } from '../../../src/engine/queue/batch-queue.ts';
import type { BatchQueueOptions, CollectedBatch } from '../../../src/engine/queue/batch-queue-options.ts';
import { batchesQueueName } from '../../../src/engine/queue/forget-batches.ts';
import { openRowQueue, type RowQueue } from '../../../src/engine/queue/row-queue.ts';
import type { ModelConnection } from '../../simulation/model-backend.ts';
import { connectionTo, modelDatastore } from '../../simulation/model-datastore.ts';
import { QueueModel } from '../../simulation/queue-model.ts';
import { taskOf } from './tasks.ts';
import { newBatch, unheard } from './unheard.ts';

afterEach(() => void vi.restoreAllMocks());

const task = taskOf(1);

function newConnection() {
  const model = new QueueModel(() => performance.now());
  return { model, connection: connectionTo(model) };
}

/** The rows of an API, closed when the test ends. */
function rowsOn(datastore: Datastore): RowQueue {
  const rows = openRowQueue(datastore, { baseUrl: 'rows' });
  onTestFinished(() => rows.close());
  return rows;
}

/** The batches of a run, and the rows that vanish from them. */
async function opened(datastore: Datastore, rows: RowQueue, options: Partial<BatchQueueOptions> = {}) {
  const vanished: (readonly number[])[] = [];
  const batches = await openBatchQueue(datastore, {
    ...unheard('r', rows),
    collect: async ({ missingRows }) => void (missingRows.length > 0 && vanished.push(missingRows)),
    ...options,
  });
  onTestFinished(() => batches.close());
  return { batches, vanished };
}

test('a missing batch is lost, though the datastore has a batch of another coordinator', async () => {
  const datastore = modelDatastore(newConnection().connection);
  const rows = rowsOn(datastore);
  const { batches: own, vanished } = await opened(datastore, rows);
  await own.add(newBatch('r', [task]), neverAborted);
  await own.forget();
  const { batches: other, vanished: vanishedOfOther } = await opened(datastore, rows);
  await other.add(newBatch('r', [taskOf(2)]), neverAborted);
  await own.refresh();
  expect([vanished, vanishedOfOther]).toEqual([[[1]], []]);
});

test('a batch that only the queue of its rows still lists is found by the next coordinator', async () => {
  const { model, connection } = newConnection();
  const datastore = modelDatastore(connection);
  const rows = rowsOn(datastore);
  const { batches } = await opened(datastore, rows);
  await batches.add(newBatch('r', [task]), neverAborted);
  await batches.close();
  model.lose(batchesQueueName('r'), 'waiting-children');
  const { batches: next } = await opened(datastore, rows);
  expect([...next.recovered.inDatastore]).toEqual([1]);
});

test('a batch that no list names is found by its id, and its rows come back', async () => {
  const { model, connection } = newConnection();
  const datastore = modelDatastore(connection);
  const rows = rowsOn(datastore);
  const { batches } = await opened(datastore, rows);
  const batch = newBatch('r', [task]);
  await batches.add(batch, neverAborted);
  await batches.close();
  model.lose(batchesQueueName('r'), 'waiting-children');
  model.lose(rows.name, 'prioritized');
  const { batches: unaware } = await opened(datastore, rows);
  expect([...unaware.recovered.inDatastore]).toEqual([]);
  await unaware.close();
  const collected: CollectedBatch[] = [];
  const { batches: next } = await opened(datastore, rows, {
    unsettled: new Set([batch.id]),
    collect: async (each) => void collected.push(each),
  });
  expect([...next.recovered.inDatastore]).toEqual([1]);
  await next.refresh();
  expect(collected).toMatchObject([{ rows: 1, results: [], unfinishedRows: [{ row: 1 }], missingRows: [] }]);
});

test('a batch is not lost while the command that adds it is under way', async () => {
  const { connection } = newConnection();
  const mayArrive = deferred();
  const slow: ModelConnection = {
    ...connection,
    ask: async (script) => {
      await mayArrive.promise;
      return connection.ask(script);
    },
  };
  const datastore = modelDatastore(connection, slow);
  const rows = rowsOn(datastore);
  const { batches, vanished } = await opened(datastore, rows);
  const adding = batches.add(newBatch('r', [task]), neverAborted);
  const later = performance.now() + 60_000;
  vi.spyOn(performance, 'now').mockImplementation(() => later);
  await batches.refresh();
  // Otherwise the row would be fed again, and called twice once both batches are there.
  expect(vanished).toEqual([]);
  mayArrive.resolve();
  await adding;
  await batches.refresh();
  expect([vanished, batches.openRows]).toEqual([[], 1]);
});

test.each([
  { what: 'has lost its data since', epoch: 'two', vanished: [[1]], there: 0 },
  { what: 'has lost nothing', epoch: 'one', vanished: [], there: 1 },
])('a batch whose command got no answer, in a datastore that $what', async (scene) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { model, connection } = newConnection();
  const started = deferred();
  let isAway = true;
  const cut: ModelConnection = {
    ...connection,
    async ask(script) {
      if (!isAway) return connection.ask(script);
      isAway = false;
      await connection.ask(script);
      // A worker may call the row now; then all data are lost, including the answer.
      model.replace();
      started.resolve();
      throw new Error('The connection was lost.');
    },
  };
  const datastore = { ...modelDatastore(connection, cut), epoch: async () => scene.epoch };
  const rows = rowsOn(datastore);
  const { batches, vanished } = await opened(datastore, rows);
  const adding = batches.add(newBatch('r', [task]), neverAborted, 'one');
  await started.promise;
  await vi.advanceTimersByTimeAsync(1_000);
  await adding;
  expect([vanished, await rows.countWaiting()]).toEqual([scene.vanished, scene.there]);
  vi.useRealTimers();
});

test('a process that looks for batches of dead workers tells why it cannot', async () => {
  const refusing: ModelConnection = {
    ...newConnection().connection,
    ask: () => Promise.reject(new Error('READONLY')),
  };
  const rows = rowsOn(modelDatastore(refusing));
  const told = deferred<Error>();
  await rows.watchStalled(told.resolve);
  expect(await told.promise).toMatchObject({ message: 'READONLY' });
});
