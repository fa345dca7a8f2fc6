import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { newMachine, placesOnRedis } from './machine.ts';

describeWithRedis('a run on Redis that two workers elsewhere call', () => {
  const newPlace = placesOnRedis();

  async function newScene(rows: number, failing: string) {
    const shared = await newPlace('--unrecoverable', failing, '--latency', '20ms');
    const place = { ...shared, env: { CQBATCH_MAX_FAILURES: '' } };
    const home = await newMachine(place, rows);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    return { home, place: shared, sandbox: shared.sandbox };
  }

  test('halts after its canary under a daemon, without asking', async () => {
    const { home, sandbox } = await newScene(30, '10%');
    await home.worker('--coordinate', '--concurrency', '0');
    expect(await home.run('submit', 'rows.csv', '--yes', '--run-id', 'r', '--canary', '10')).toMatchObject({
      code: 0,
    });
    expect(await home.run('status', 'r', '--watch')).toMatchObject({ code: 3 });
    expect(await sandbox.log()).toHaveLength(10);
    expect((await home.run('status', 'r')).stdout).toContain(
      'more than the limit of 0 (canary_max_failures)',
    );
    expect(await home.run('resume', 'r', '--no-worker')).toMatchObject({ code: 1 });
    expect(await sandbox.log()).toHaveLength(30);
  });

  test('stops when its budget is spent under a daemon, and can be resumed', async () => {
    const { home, place, sandbox } = await newScene(60, '0%');
    const args = ['--yes', '--run-id', 'r', '--max-rows', '30', '--rate', '10/s'];
    expect(await home.run('submit', 'rows.csv', ...args)).toMatchObject({ code: 0 });
    const first = await home.worker('--coordinate', '--concurrency', '0');
    await sandbox.requested(10);
    // The next one goes by what is left of the budget.
    await first.stop();
    await home.worker('--coordinate', '--concurrency', '0');
    expect(await home.run('status', 'r', '--watch')).toMatchObject({ code: 6 });
    expect(await sandbox.log()).toHaveLength(30);
    const elsewhere = await newMachine(place);
    expect(await elsewhere.run('status', 'r', '--watch')).toMatchObject({ code: 6 });
    expect(await home.run('resume', 'r', '--no-worker')).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(60);
  });
});
