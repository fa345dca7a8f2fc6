import { expect, test } from 'vitest';
import { describeWithValkey, redisForTest } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { kindSandbox, newMachine } from './machine.ts';

const rows = 300;

describeWithValkey('a run on Valkey that two workers call', (program) => {
  test('is exact when one of them and Valkey are killed', async () => {
    const redis = await redisForTest({ program });
    const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms', '--fault', '503=2%');
    const place = { redis, sandbox, prefix: 'valkey' };
    const home = await newMachine(place, rows);
    const [victim] = await Promise.all([
      (await newMachine(place)).worker(),
      (await newMachine(place)).worker(),
    ]);
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--no-worker', '--rate', '60/s');
    await sandbox.requested(60);
    victim?.kill('SIGKILL');
    await sandbox.requested(120);
    await redis.kill();
    await redis.restart();
    expect(await run.end).toMatchObject({ code: 0 });
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log(), { killed: true });
  });
});
