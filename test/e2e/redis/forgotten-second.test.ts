import { truncate } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { adminOf, describeWithRedis, endOfLog, patiently, redisForTest } from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import { callsByRow, callsOf, expectEveryRowOnce } from '../agreement.ts';
import { kindSandbox, newMachine } from './machine.ts';

const rows = 600;

/** What a report says of its rows, against the calls that the API has seen. */
async function judged(cwd: string, sandbox: TestSandbox) {
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expectEveryRowOnce(report, rows);
  const calls = callsByRow(await sandbox.log());
  const called = (row: (typeof report)[number]): number => callsOf(row, calls).length;
  const isMarked = (row: (typeof report)[number]): boolean => row['_unclear'] === 'yes';
  const numbers = (found: typeof report) => found.map((row) => Number(row['_row']));
  return {
    calledAgainInSilence: numbers(report.filter((row) => called(row) > 1 && !isMarked(row))),
    notSucceeded: numbers(report.filter((row) => row['_outcome'] !== 'succeeded')),
    marked: numbers(report.filter(isMarked)),
    calledAgain: numbers(report.filter((row) => called(row) > 1)),
  };
}

describeWithRedis('after a crash of Redis', () => {
  test.each([
    ['nothing', undefined],
    ['half a second', 500],
    ['four seconds', 4_000],
  ])('that has lost %s, processes that live call nothing again and mark nothing', async (_, lostMs) => {
    const redis = await redisForTest();
    const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms..60ms');
    const { cwd, start, worker } = await newMachine({ redis, sandbox, prefix: 'forgets' }, rows);
    await worker();
    const run = start('run', 'rows.csv', '--yes', '--rate', '80/s');
    await sandbox.requested(100);
    const { file, bytes } = await endOfLog(redis);
    await sleep(lostMs ?? 0);
    await redis.kill();
    if (lostMs !== undefined) await truncate(file, bytes);
    await redis.restart();
    expect((await run.end).code).toBe(0);
    expect(await judged(cwd, sandbox)).toEqual({
      calledAgain: [],
      calledAgainInSilence: [],
      marked: [],
      notSucceeded: [],
    });
  });

  test('whose replica takes over without its last second, processes that live call nothing again and mark nothing', async () => {
    const primary = await redisForTest();
    const replica = await redisForTest({
      args: ['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'],
    });
    const sentinel = await redisForTest({ sentinelOf: primary });
    const [watching, behind] = [adminOf(sentinel), adminOf(replica)];
    // Otherwise it looks only every ten seconds; an old Sentinel does not know the command.
    await watching.call('SENTINEL', 'DEBUG', 'INFO-PERIOD', '200').catch(() => {});
    await expect.poll(() => watching.call('SENTINEL', 'REPLICAS', 'mymaster'), patiently).toHaveLength(1);
    await expect.poll(() => behind.info('replication'), patiently).toContain('master_link_status:up');
    const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms..60ms');
    const env = { CQBATCH_QUEUE: `redis+sentinel://127.0.0.1:${sentinel.port}/mymaster` };
    const place = { redis: primary, sandbox, prefix: 'forgets', env };
    const { cwd, start, worker } = await newMachine(place, rows);
    await worker();
    const run = start('run', 'rows.csv', '--yes', '--rate', '80/s');
    await sandbox.requested(100);
    // From now on it hears nothing of the primary.
    await behind.replicaof('127.0.0.1', '1');
    await sleep(1_000);
    await primary.kill();
    // A Sentinel that has not looked at the replica lately gives a failover up: ask again.
    const roleOfReplica = async () => {
      await watching.call('SENTINEL', 'FAILOVER', 'mymaster').catch(() => {});
      return (await behind.role())[0];
    };
    await expect.poll(roleOfReplica, { timeout: 60_000, interval: 500 }).toBe('master');
    expect((await run.end).code).toBe(0);
    expect(await judged(cwd, sandbox)).toEqual({
      calledAgain: [],
      calledAgainInSilence: [],
      marked: [],
      notSucceeded: [],
    });
  });

  test('and of all processes, a resumed run marks what it calls again', async () => {
    const redis = await redisForTest();
    const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms..60ms');
    const { cwd, start, run, worker } = await newMachine({ redis, sandbox, prefix: 'forgets' }, rows);
    const other = await worker();
    const began = start('run', 'rows.csv', '--yes', '--rate', '80/s');
    await sandbox.requested(100);
    const { file, bytes } = await endOfLog(redis);
    await sleep(1_000);
    await redis.kill();
    for (const process of [began, other]) {
      process.kill('SIGKILL');
      await process.end;
    }
    await truncate(file, bytes);
    await redis.restart();
    expect((await run('resume')).code).toBe(0);
    const { calledAgain, marked, ...found } = await judged(cwd, sandbox);
    expect(found).toEqual({ calledAgainInSilence: [], notSucceeded: [] });
    expect(marked).toEqual(expect.arrayContaining(calledAgain));
    // No more than were fed when the processes died.
    expect(marked.length).toBeLessThan(rows);
  });
});
