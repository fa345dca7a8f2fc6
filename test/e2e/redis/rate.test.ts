import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openCluster } from '../../../src/cluster/cluster.ts';
import { openRedis } from '../../../src/datastore/redis/redis.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeRate, limitsShared, type NewScene } from '../rate.conformance.ts';
import { eventually, kindSandbox, newMachine } from './machine.ts';

describeWithRedis('a run on Redis that two workers call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const newScene: NewScene = async (rows, ...sandboxArgs) => {
    scenes += 1;
    const place = {
      redis,
      sandbox: await startSandbox(...kindSandbox, ...sandboxArgs),
      prefix: `rate-${scenes}`,
    };
    const home = await newMachine(place, rows);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    return { home, sandbox: place.sandbox, flags: ['--no-worker'] };
  };
  describeRate(newScene, limitsShared);

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
});
