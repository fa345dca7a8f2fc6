import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openCluster } from '../../../src/engine/cluster/cluster.ts';
import { openRedis } from '../../../src/engine/datastore/redis/redis.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { eventually, kindSandbox, newMachine } from './machine.ts';

describeWithRedis('a run on Redis that two workers call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  async function newScene(rows: number, ...sandboxArgs: string[]) {
    scenes += 1;
    const place = {
      redis,
      sandbox: await startSandbox(...kindSandbox, ...sandboxArgs),
      prefix: `rate-${scenes}`,
    };
    const home = await newMachine(place, rows);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    return { home, sandbox: place.sandbox, flags: ['--no-worker'] };
  }

  test('reports that it waits for a quota, even after a long time without calls', async () => {
    const { home, sandbox, flags } = await newScene(50, '--limit', 'daily-quota:limit=20');
    const { datastore } = await openRedis({ url: redis.url, prefix: `rate-${scenes}`, purpose: 'tests' });
    onTestFinished(() => datastore.close());
    const { pace } = openCluster(datastore);
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
    await run.says('(the API asks to wait)');
    run.kill('SIGINT');
    await run.end;
    // No worker leads after some seconds without a run.
    await eventually(async () => (await pace({ baseUrl: sandbox.url })) === undefined);

    const resumed = home.start('resume', 'r', ...flags);
    await resumed.says('(the API asks to wait)');
    expect((await home.run('pause', 'r')).code).toBe(0);
    await eventually(async () => (await pace({ baseUrl: sandbox.url })) === undefined);
    expect((await home.run('unpause', 'r')).code).toBe(0);
    await eventually(async () => (await pace({ baseUrl: sandbox.url }))?.reason === 'the API asks to wait');
    expect((await home.run('cancel', 'r')).code).toBe(0);
    expect(await resumed.end).toMatchObject({ code: 3 });
  });

  test('leaves its rows to all workers when the API asks to wait', async () => {
    scenes += 1;
    const sandbox = await startSandbox(...kindSandbox, '--latency', '500ms');
    const place = { redis, sandbox, prefix: `rate-${scenes}` };
    const home = await newMachine(place, 500);
    const machine = await newMachine(place);
    for (let worker = 0; worker < 4; worker += 1) await machine.worker('--concurrency', '6');
    const { datastore } = await openRedis({ url: redis.url, prefix: place.prefix, purpose: 'tests' });
    onTestFinished(() => datastore.close());
    const api = { baseUrl: sandbox.url };
    const { pace, workers } = openCluster(datastore);
    const queue = openRowQueue(datastore, api);
    onTestFinished(() => queue.close());
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker');
    await sandbox.requested(60);
    sandbox.configure({ limit: 'daily-quota:limit=1' });
    await eventually(async () => (await pace(api))?.reason === 'the API asks to wait');
    await eventually(async () => (await workers(api)).every(({ active }) => active === 0));
    // Four workers hold two or three of the 20 batches each. A worker that claims in the place of rows that come back takes all.
    expect(await queue.countWaiting()).toBeGreaterThan(5);
    run.kill('SIGINT');
    await run.end;
  });
});
