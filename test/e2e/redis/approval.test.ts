import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveFile } from '../../helpers/approve-plan.ts';
import { adminOf, describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { allowedSigners, sshKey } from '../../helpers/ssh-key.ts';
import { eventually, kindSandbox, newMachine } from './machine.ts';

const rows = 5;

describeWithRedis('approvals on a shared Redis', () => {
  test('are asked for where the token is: by the daemon, which alone may feed rows', async () => {
    const server = await redisForTest();
    const admin = adminOf(server);
    // As in docs/approvals.md.
    for (const user of ['batch on >secret ~{cqbatch}:* +@all -@dangerous +info', 'default off'])
      await admin.call('ACL', 'SETUSER', ...user.split(' '));
    const redis = Object.create(server, {
      url: { value: `redis://batch:secret@127.0.0.1:${server.port}/0` },
    });
    const sandbox = await startSandbox(...kindSandbox);
    const { cwd, stateDir, runWith, worker, stateOf } = await newMachine(
      { redis, sandbox, prefix: 'cqbatch' },
      rows,
    );
    const person = (...args: string[]) => runWith({ CQBATCH_QUEUE: '', CQBATCH_TOKEN_FILE: '' }, ...args);
    const ana = await sshKey();
    const approvers = await allowedSigners({ ana });

    const direct = await runWith({ CQBATCH_QUEUE: server.url }, 'run', 'rows.csv', '--yes');
    expect(direct).toMatchObject({ code: 4, stderr: expect.stringContaining('password') });
    // The settings of this person want no approvals.
    expect(await person('submit', 'rows.csv', '--yes', '--run-id', 'bare')).toMatchObject({ code: 0 });
    const config = { approvers, require_approval_above: 'any' };
    await writeFile(join(stateDir, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const daemon = await worker('--coordinate');
    await eventually(async () => (await stateOf('bare')) === 'failed');
    expect((await person('status', 'bare')).stdout).toContain('5 calls, 0 of 1 approval.');
    expect(await sandbox.log()).toEqual([]);

    expect(await person('plan', 'rows.csv', '--out', 'week.cqplan')).toMatchObject({ code: 0 });
    await approveFile(join(cwd, 'week.cqplan'), ana, { user: 'ana', host: 'desk' });
    expect(await person('submit', 'week.cqplan', '--run-id', 'week')).toMatchObject({ code: 0 });
    await eventually(async () => (await stateOf('week')) === 'completed');
    expect(await sandbox.log()).toHaveLength(rows);
    await daemon.stop();
  });

  test('hold for one run, whatever state folder has a copy of the plan', async () => {
    const redis = await redisForTest();
    const sandbox = await startSandbox(...kindSandbox);
    const place = { redis, sandbox, prefix: 'copies' };
    const [laptop, other] = [await newMachine(place, rows), await newMachine(place, rows)];
    const ana = await sshKey();
    const approvers = await allowedSigners({ ana });
    expect(await laptop.run('plan', 'rows.csv', '--out', 'week.cqplan')).toMatchObject({ code: 0 });
    await approveFile(join(laptop.cwd, 'week.cqplan'), ana, { user: 'ana', host: 'desk' });
    const config = JSON.stringify({ approvers, require_approval_above: 'any' });
    for (const { cwd, stateDir, run } of [laptop, other]) {
      await run('init');
      await writeFile(join(stateDir, 'config.json'), config);
      if (cwd === laptop.cwd) continue;
      for (const name of ['week.cqplan', 'week.cqplan.ana.approval'])
        await cp(join(laptop.cwd, name), join(cwd, name));
    }
    expect(await laptop.run('run', 'week.cqplan')).toMatchObject({ code: 0 });
    const again = await other.run('run', 'week.cqplan', '--run-id', 'again');
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'week.cqplan was carried out by another run, and approvals hold for one run',
      ),
    });
    expect(await sandbox.log()).toHaveLength(rows);
    expect(await other.stateOf('again')).toBeUndefined();
  });
});
