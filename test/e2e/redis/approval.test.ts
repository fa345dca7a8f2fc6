import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createKey } from '../../../src/signature/key-file.ts';
import { approveFile } from '../../helpers/approve-plan.ts';
import { cqbatch } from '../../helpers/cqbatch.ts';
import { describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { readCsv } from '../../helpers/run-folder.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { startWorker } from '../../helpers/worker.ts';
import { restoreCsv } from '../manifests.ts';

describeWithRedis('a worker that requires approvals', () => {
  test('calls no row of a run without them, though the settings of the run want none', async () => {
    const [laptop, machine] = [await temporaryFolder(), await temporaryFolder()];
    const { url } = await redisForTest();
    const sandbox = await startSandbox();
    const env = { ...sandbox.env, CQBATCH_QUEUE: url };
    const ana = await createKey(join(machine, 'ana'));
    const approvers = { ana: ana.publicKey.text };
    await mkdir(join(machine, '.cqbatch'), { mode: 0o700 });
    await writeFile(join(machine, '.cqbatch', 'config.json'), JSON.stringify({ approvers }), { mode: 0o600 });
    await writeFile(join(laptop, 'rows.csv'), restoreCsv(5).text);
    const worker = await startWorker(['--require-approval'], { cwd: machine, env });
    const run = (...args: string[]) => cqbatch(args, { cwd: laptop, env });

    expect(await run('run', 'rows.csv', '--yes', '--no-worker', '--run-id', 'bare')).toMatchObject({
      code: 1,
    });
    expect(await sandbox.log()).toEqual([]);
    const rows = await readCsv(join(laptop, '.cqbatch/runs/bare'), 'report.csv');
    expect(
      rows.map((row) => [row['_code'], row['_attempts'], row['_error_message'] ?? row['_message']]),
    ).toEqual(
      Array.from({ length: 5 }, () => [
        'NOT_APPROVED',
        '0',
        'this worker requires 1 approval, and the run has no approved plan',
      ]),
    );

    // Here the approver is known, too: otherwise the plan is not kept as an approved one.
    await writeFile(join(laptop, '.cqbatch', 'config.json'), JSON.stringify({ approvers }));
    expect(await run('plan', 'rows.csv', '--out', 'week.cqplan')).toMatchObject({ code: 0 });
    await approveFile(join(laptop, 'week.cqplan'), ana, { user: 'ana', host: 'desk' });
    expect(await run('run', 'week.cqplan', '--no-worker')).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(5);

    // A copy of the plan on another machine.
    const copies = await temporaryFolder();
    for (const name of ['rows.csv', 'week.cqplan', '.cqbatch/config.json'])
      await cp(join(laptop, name), join(copies, name));
    const again = await cqbatch(['run', 'week.cqplan', '--no-worker', '--run-id', 'again'], {
      cwd: copies,
      env,
    });
    expect(again.code).toBe(1);
    const refused = await readCsv(join(copies, '.cqbatch/runs/again'), 'report.csv');
    expect(refused.map((row) => row['_message'])).toEqual(
      Array.from({ length: 5 }, () => 'another run has carried out the approved plan'),
    );
    expect(await sandbox.log()).toHaveLength(5);
    await worker.stop();
  });
});
