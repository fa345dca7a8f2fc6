import { expect, onTestFinished, test } from 'vitest';
import { openCluster } from '../../../src/engine/cluster/cluster.ts';
import { openRowQueue } from '../../../src/engine/queue/row-queue.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { eventually, newMachine, openDatastore, placesOnRedis } from './machine.ts';

describeWithRedis('a run on Redis that two workers call', () => {
  const newPlace = placesOnRedis();

  test('reports that it waits for a quota, even after a long time without calls', async () => {
    const place = await newPlace('--limit', 'daily-quota:limit=20');
    const home = await newMachine(place, 50);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    const { pace } = openCluster(await openDatastore(place));
    const api = { baseUrl: place.sandbox.url };
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker');
    await run.says('(the API asks to wait)');
    run.kill('SIGINT');
    await run.end;
    // No worker leads after some seconds without a run.
    await eventually(async () => (await pace(api)) === undefined);

    const resumed = home.start('resume', 'r', '--no-worker');
    await resumed.says('(the API asks to wait)');
    expect((await home.run('pause', 'r')).code).toBe(0);
    await eventually(async () => (await pace(api)) === undefined);
    expect((await home.run('unpause', 'r')).code).toBe(0);
    await eventually(async () => (await pace(api))?.reason === 'the API asks to wait');
    expect((await home.run('cancel', 'r', '--yes')).code).toBe(0);
    expect(await resumed.end).toMatchObject({ code: 3 });
  });

  test('leaves its rows to all workers when the API asks to wait', async () => {
    const place = await newPlace('--latency', '500ms');
    const { sandbox } = place;
    const home = await newMachine(place, 500);
    const machine = await newMachine(place);
    const args = ['--concurrency', '6', '--timeout', '10m'];
    for (let worker = 0; worker < 4; worker += 1) await machine.worker(...args);
    const datastore = await openDatastore(place);
    const api = { baseUrl: sandbox.url };
    const { pace, workers } = openCluster(datastore);
    const queue = openRowQueue(datastore, api);
    onTestFinished(() => queue.close());
    const held = sandbox.hold();
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker');
    // Four workers hold at most three of the 20 batches each.
    await eventually(async () => (await queue.countWaiting()) >= 8);
    held.release();
    await sandbox.requested(60);
    sandbox.configure({ limit: 'daily-quota:limit=1' });
    await eventually(async () => (await pace(api))?.reason === 'the API asks to wait');
    await eventually(async () => (await workers(api)).every(({ active }) => active === 0));
    // A worker that claims in the place of rows that come back takes all.
    expect(await queue.countWaiting()).toBeGreaterThan(5);
    run.kill('SIGINT');
    await run.end;
  });
});
