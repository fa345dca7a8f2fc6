import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRowQueue, type RowQueue } from '../../../src/engine/queue/row-queue.ts';
import { WatchedWorker } from '../../../src/engine/worker/watched-worker.ts';
import { connectionTo, modelDatastore } from '../../simulation/model-datastore.ts';
import { QueueModel } from '../../simulation/queue-model.ts';
import { callFor } from './tasks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What a worker reports in this many seconds, on a queue with these facts from which nothing can be claimed. */
async function watched(seconds: number, facts: Partial<RowQueue>, resting = false) {
  const said: string[] = [];
  const onStuck = vi.fn();
  const datastore = modelDatastore(connectionTo(new QueueModel(() => performance.now())));
  const worker = new WatchedWorker(
    datastore,
    { ...openRowQueue(datastore, { baseUrl: 'rows-1' }), ...facts },
    {
      concurrency: 1,
      prepare: callFor,
      process: async () => Promise.reject(new Error('nothing can be claimed')),
      log: pino({ base: null }, { write: (line) => said.push(JSON.parse(line).msg) }),
      isResting: () => resting,
      onRefused: () => {},
      onError: () => {},
      onStuck,
    },
  );
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
  const stopped = worker.stop(1_000);
  await vi.advanceTimersByTimeAsync(10_000);
  await stopped;
  return { said, isStuck: onStuck.mock.calls.length > 0 };
}

test('a worker that takes nothing though rows wait reconnects, then gives up', async () => {
  const facts = { countWaiting: async () => 3 };
  expect(await watched(120, facts)).toMatchObject({ isStuck: false });
  const { said, isStuck } = await watched(130, facts);
  expect(said.filter((line) => line.includes('connecting again')).length).toBeGreaterThan(1);
  expect(isStuck).toBe(true);
});

test.each<[string, Partial<RowQueue>, boolean]>([
  ['nothing waits', { countWaiting: async () => 0 }, false],
  ['the API asks to wait', { countWaiting: async () => 3 }, true],
])('a worker is left alone while %s', async (_excuse, facts, resting) => {
  expect(await watched(300, facts, resting)).toEqual({ said: [], isStuck: false });
});
