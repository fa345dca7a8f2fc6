import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deferred } from '../../../../src/base/async/waiting.ts';
import type { Cluster } from '../../../../src/engine/cluster/cluster.ts';
import type { PublishedPace, RunEntry, WorkerEntry } from '../../../../src/engine/cluster/entries.ts';
import { type ClusterStatus, startHeartbeat } from '../../../../src/engine/run/work/heartbeat.ts';
import { publishedPace, runEntry, workerEntry } from '../../../helpers/cluster-entries.ts';

const secondMs = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A heartbeat among entries that a test can change, and a record of what it heard. */
function start(onError = (error: Error): void => expect.fail(error.message)) {
  const others = {
    workers: [] as WorkerEntry[],
    pace: undefined as PublishedPace | undefined,
    runs: new Map<string, RunEntry>(),
    answers: Promise.resolve(),
  };
  const did = { seen: [] as ClusterStatus[], established: false };
  const cluster: Partial<Cluster> = {
    putRun: () => others.answers.then(() => true),
    workers: async () => others.workers,
    pace: async () => others.pace,
    run: async (id) => others.runs.get(id),
  };
  const heartbeat = startHeartbeat({
    cluster: cluster as Cluster,
    entry: () => runEntry(),
    onClusterStatus: (status) => did.seen.push(status),
    onError,
  });
  void heartbeat.established.then(() => {
    did.established = true;
  });
  return { others, did, cluster, heartbeat, beat: () => vi.advanceTimersByTimeAsync(secondMs) };
}

describe('a run that shows itself', () => {
  test('learns which workers there are, and how they call the API', async () => {
    const { others, did, beat } = start();
    others.workers = [
      workerEntry(),
      workerEntry({ id: 'another', outage: { reason: 'away', testMs: 9_000 }, active: 1 }),
    ];
    others.pace = publishedPace();
    await beat();
    expect(did.seen[0]).toMatchObject({ workers: 2 });
    expect(did.seen[0]?.pace).toMatchObject({ rate: 40, phase: 'waiting', reason: 'away' });
    others.workers = [workerEntry()];
    await beat();
    expect(did.seen.at(-1)?.pace).toMatchObject({ rate: 40, reason: 'just under the limit' });
  });

  test('learns which run is called before it', async () => {
    const { others, did, beat } = start();
    others.pace = publishedPace({ runs: ['run', 'urgent'] });
    others.runs.set(
      'urgent',
      runEntry({ id: 'urgent', priority: 'high', rows: 9, done: 5, rowsPerSecond: 2 }),
    );
    await beat();
    expect(did.seen.at(-1)?.ahead).toBe('for urgent (priority high), about 2 s');
  });
});

test('a run learns that its datastore does not answer, although no command fails', async () => {
  const { others, heartbeat, beat } = start();
  await beat();
  await beat();
  expect(heartbeat.silence).toBeUndefined();
  const answers = deferred();
  others.answers = answers.promise;
  for (let second = 0; second < 7; second += 1) await beat();
  expect(heartbeat.silence).toBe('the datastore does not answer');
  answers.resolve();
  await beat();
  expect(heartbeat.silence).toBeUndefined();
});

describe('the rate of a run is in force', () => {
  test('when no worker leads: nothing can be called', async () => {
    await expect(start().heartbeat.established).resolves.toBeUndefined();
  });

  test('with several workers, when they have learned it from the leading one', async () => {
    const scene = start();
    scene.others.pace = publishedPace({ runs: ['other', 'run'], workers: 2 });
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.did.established).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(scene.did.established).toBe(true);
  });

  test('only when the leading worker knows it', async () => {
    const scene = start();
    const renew = (runs: string[]) => {
      scene.others.pace = publishedPace({ runs });
    };
    for (let second = 0; second < 5; second += 1) {
      renew(['other']);
      await scene.beat();
    }
    expect(scene.did.established).toBe(false);
    renew(['other', 'run']);
    await scene.beat();
    expect(scene.did.established).toBe(true);
  });

  test('soon when the leading worker is gone and has left its pace', async () => {
    const scene = start();
    scene.others.pace = publishedPace({ runs: ['other'] });
    await vi.advanceTimersByTimeAsync(0);
    expect(scene.did.established).toBe(false);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(scene.did.established).toBe(true);
  });

  test('again after a pause, once it is in a later decision', async () => {
    const scene = start();
    scene.others.pace = publishedPace();
    await scene.heartbeat.established;
    let isAgain = false;
    // Decided before the run continued.
    void scene.heartbeat.establishedAgain().then(() => {
      isAgain = true;
    });
    await vi.advanceTimersByTimeAsync(0);
    for (let second = 0; second < 3; second += 1) {
      scene.others.pace = publishedPace({ runs: ['other'] });
      await scene.beat();
    }
    expect(isAgain).toBe(false);
    scene.others.pace = publishedPace({ runs: ['other', 'run'] });
    await scene.beat();
    expect(isAgain).toBe(true);
  });
});

test('a run that leaves a datastore that is away ends all the same, and says so', async () => {
  const told: string[] = [];
  const { cluster, heartbeat, beat } = start(({ message }) => told.push(message));
  await beat();
  cluster.putRun = () => Promise.reject(new Error('ECONNREFUSED'));
  await heartbeat.stop();
  expect(told).toEqual(['ECONNREFUSED']);
});
