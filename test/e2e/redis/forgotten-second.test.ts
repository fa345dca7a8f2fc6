import { truncate } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  describeWithRedis,
  endOfLog,
  type RedisServer,
  redisForTest,
  replicatedRedis,
} from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import { callsByRow, callsOf, expectEveryRowOnce } from '../agreement.ts';
import { kindSandbox, newMachine, type Place } from './machine.ts';

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

/** A run with a worker that has called a hundred rows. */
async function begunRun(redis: RedisServer, env: Place['env'] = {}) {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms..60ms');
  const machine = await newMachine({ redis, sandbox, prefix: 'forgets', env }, rows);
  const worker = await machine.worker();
  const run = machine.start('run', 'rows.csv', '--yes', '--rate', '80/s');
  await sandbox.requested(100);
  const judge = () => judged(machine.cwd, sandbox);
  /** The run ends, each row was called once, and none is marked. */
  const lostNothing = async (): Promise<void> => {
    expect((await run.end).code).toBe(0);
    expect(await judge()).toEqual({
      calledAgain: [],
      calledAgainInSilence: [],
      marked: [],
      notSucceeded: [],
    });
  };
  return { sandbox, machine, worker, run, judge, lostNothing };
}

describeWithRedis('after a crash of Redis', () => {
  test.each([
    ['nothing', undefined],
    ['the last 40 calls', 40],
    ['the last 320 calls', 320],
  ])('that has lost %s, processes that live call nothing again and mark nothing', async (_, lost) => {
    const redis = await redisForTest();
    const { sandbox, lostNothing } = await begunRun(redis);
    const { file, bytes } = await endOfLog(redis);
    await sandbox.requested(100 + (lost ?? 0));
    await redis.kill();
    if (lost !== undefined) await truncate(file, bytes);
    await redis.restart();
    await lostNothing();
  });

  test('whose replica takes over without its last second, processes that live call nothing again and mark nothing', async () => {
    const { primary, ofReplica, control, url } = await replicatedRedis();
    const { sandbox, lostNothing } = await begunRun(primary, { CQBATCH_QUEUE: url });
    // From now on it hears nothing of the primary.
    await ofReplica.replicaof('127.0.0.1', '1');
    await sandbox.requested(180);
    await primary.kill();
    // A Sentinel that has not looked at the replica lately gives a failover up: ask again.
    const roleOfReplica = async () => {
      await control.call('SENTINEL', 'FAILOVER', 'mymaster').catch(() => {});
      return (await ofReplica.role())[0];
    };
    await expect.poll(roleOfReplica, { interval: 500 }).toBe('master');
    await lostNothing();
  });

  test('and of all processes, a resumed run marks what it calls again', async () => {
    const redis = await redisForTest();
    const { sandbox, machine, worker, run, judge } = await begunRun(redis);
    const { file, bytes } = await endOfLog(redis);
    await sandbox.requested(180);
    await redis.kill();
    for (const process of [run, worker]) {
      process.kill('SIGKILL');
      await process.end;
    }
    await truncate(file, bytes);
    await redis.restart();
    expect((await machine.run('resume')).code).toBe(0);
    const { calledAgain, marked, ...found } = await judge();
    expect(found).toEqual({ calledAgainInSilence: [], notSucceeded: [] });
    expect(marked).toEqual(expect.arrayContaining(calledAgain));
    // No more than were fed when the processes died.
    expect(marked.length).toBeLessThan(rows);
  });
});
