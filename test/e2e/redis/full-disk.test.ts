import { expect, test } from 'vitest';
import { describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { describeWithSmallDisk, smallDisk } from '../../helpers/small-disk.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { kindSandbox, newMachine } from './machine.ts';

const rows = 1_000;

/** A run whose Redis can't write any more in the middle of it, and can again later. */
async function endsAndGoesOn(...args: string[]): Promise<void> {
  const disk = smallDisk(30);
  const redis = await redisForTest({ args: [...args, '--dir', disk.folder] });
  const sandbox = await startSandbox(...kindSandbox);
  const home = await newMachine({ redis, sandbox, prefix: 'full' }, rows);
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--rate', '10/s');
  await sandbox.requested(20);
  disk.fill();
  const { code, stderr } = await run.end;
  expect({ code, stderr }).toMatchObject({ code: 4 });
  expect(stderr).toContain(
    `error: Redis at ${redis.url} can't write to its disk and refuses to work (MISCONF)`,
  );
  expect(stderr).toMatch(/free some space there \(its log says what is wrong\), then cqbatch resume r$/m);
  expect(stderr).toMatch(/^Run r stopped\. Its journal has the results of [\d,]+ of 1,000 rows/m);

  const refused = await home.run('resume', 'r');
  expect({ code: refused.code, stderr: refused.stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/refuses to work \(MISCONF\).*, then cqbatch resume r$/m),
  });

  disk.free();
  await expect
    .poll(async () => (await home.run('resume', 'r', '--rate', 'none')).code, { interval: 2_000 })
    .toBe(0);
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log(), { killed: true });
}

describeWithRedis('a Redis', () => {
  describeWithSmallDisk('whose disk is full', () => {
    test('ends a run after some seconds, and resume finishes it', async () => {
      const snapshots = ['--appendonly', 'no', '--save', '1 1', '--stop-writes-on-bgsave-error', 'yes'];
      await Promise.all([endsAndGoesOn('--appendonly', 'yes'), endsAndGoesOn(...snapshots)]);
    });
  });
});
