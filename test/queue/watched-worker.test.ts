import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Datastore } from '../../src/datastore/datastore.ts';
import type { RowQueue } from '../../src/queue/row-queue.ts';
import { built } from '../helpers/built.ts';

const { openEmbedded } = await built<typeof import('../../src/datastore/embedded/embedded.ts')>(
  'datastore/embedded/embedded',
);
const { openRowQueue } = await built<typeof import('../../src/queue/row-queue.ts')>('queue/row-queue');
const { WatchedWorker } =
  await built<typeof import('../../src/worker/watched-worker.ts')>('worker/watched-worker');

let datastore: Datastore;
let queue: RowQueue;
let stateDir: string;

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'cqbatch-watched-'));
  datastore = await openEmbedded({ stateDir, purpose: 'test' });
  queue = openRowQueue(datastore, 'rows-1');
});
afterAll(async () => {
  await queue.close();
  await datastore.close();
  await rm(stateDir, { recursive: true });
});

/** A worker of a queue that says of itself what is wanted: nothing can ever be claimed from it. */
function watch(facts: Partial<RowQueue>, resting = false) {
  const said: string[] = [];
  let becomeStuck = (): void => {};
  const stuck = new Promise<void>((resolve) => {
    becomeStuck = resolve;
  });
  const log = pino({ base: null }, { write: (line) => said.push(JSON.parse(line).msg) });
  const worker = new WatchedWorker(
    datastore,
    { ...queue, ...facts },
    {
      concurrency: 1,
      refusal: () => undefined,
      process: async () => Promise.reject(new Error('nothing can be claimed')),
      log,
      isResting: () => resting,
      onRefused: () => {},
      onError: () => {},
      onStuck: becomeStuck,
      patience: { watchMs: 10, reconnectAfterMs: 40, giveUpAfterMs: 200 },
    },
  );
  return { worker, said, stuck };
}

test('a worker that takes nothing though rows wait connects anew, then gives up', async () => {
  const { worker, said, stuck } = watch({ countWaiting: async () => 3 });
  await stuck;
  expect(said.filter((line) => line.includes('connecting anew')).length).toBeGreaterThan(1);
  await worker.stop(1_000);
});

test.each<[string, Partial<RowQueue>, boolean]>([
  ['nothing waits', { countWaiting: async () => 0 }, false],
  ['the API asks to wait', { countWaiting: async () => 3 }, true],
])('a worker is left alone while %s', async (_excuse, facts, resting) => {
  let looks = 0;
  let looked = (): void => {};
  const often = new Promise<void>((resolve) => {
    looked = resolve;
  });
  const { countWaiting = queue.countWaiting } = facts;
  const { worker, said } = watch(
    {
      ...facts,
      countWaiting: () => {
        looks += 1;
        if (looks === 40) looked();
        return countWaiting();
      },
    },
    resting,
  );
  await often;
  expect(said).toEqual([]);
  await worker.stop(1_000);
});
