import { readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  adminOf,
  describeWithRedis,
  endOfLog,
  type RedisServer,
  redisForTest,
  replicatedRedis,
} from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import { callsByRow, callsOf, expectEveryRowOnce } from '../agreement.ts';
import { eventually, kindSandbox, newMachine, type Place } from './machine.ts';

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

/** The workers that call the rows of a run. */
type Callers = 'its own worker' | 'two workers elsewhere';

/** A run that has called a hundred rows, and has the result of some of them in its journal. */
async function begunRun(redis: RedisServer, callers: Callers, env: Place['env'] = {}) {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms..60ms');
  const machine = await newMachine({ redis, sandbox, prefix: 'forgets', env }, rows);
  const isElsewhere = callers === 'two workers elsewhere';
  const workers = isElsewhere ? [await machine.worker(), await machine.worker()] : [];
  const without = isElsewhere ? ['--no-worker'] : [];
  const run = machine.start('run', 'rows.csv', '--yes', '--rate', '80/s', ...without);
  await sandbox.requested(100);
  const held = sandbox.hold();
  const journal = join(await newestRunFolder(machine.cwd), 'journal.jsonl');
  await eventually(async () => (await readFile(journal, 'utf8')).includes('"outcome"'));
  held.release();
  /** What was called again is marked, and no more than the rows that Redis held. */
  const expectMarks = async (): Promise<void> => {
    const { calledAgain, marked, ...found } = await judged(machine.cwd, sandbox);
    expect(found).toEqual({ calledAgainInSilence: [], notSucceeded: [] });
    expect(marked).toEqual(expect.arrayContaining(calledAgain));
    expect(marked.length).toBeGreaterThan(0);
    expect(marked.length).toBeLessThan(rows);
  };
  return { sandbox, machine, workers, run, expectMarks };
}

describeWithRedis('after a crash of Redis', () => {
  test.each<{ lost: string; calls: number | undefined; callers: Callers }>([
    { lost: 'nothing', calls: undefined, callers: 'its own worker' },
    { lost: 'the last 40 calls', calls: 40, callers: 'its own worker' },
    { lost: 'the last 320 calls', calls: 320, callers: 'its own worker' },
    { lost: 'the last 40 calls', calls: 40, callers: 'two workers elsewhere' },
    { lost: 'the last 320 calls', calls: 320, callers: 'two workers elsewhere' },
  ])('that has lost $lost, a run with $callers marks what it calls again', async ({ calls, callers }) => {
    const redis = await redisForTest();
    const { sandbox, run, expectMarks } = await begunRun(redis, callers);
    const { file, bytes } = await endOfLog(redis);
    await sandbox.requested(100 + (calls ?? 0));
    await redis.kill();
    if (calls !== undefined) await truncate(file, bytes);
    await redis.restart();
    expect((await run.end).code).toBe(0);
    await expectMarks();
  });

  test.each<{ callers: Callers }>([{ callers: 'its own worker' }, { callers: 'two workers elsewhere' }])(
    'that has only a snapshot of 320 calls ago, a run with $callers marks what it calls again',
    async ({ callers }) => {
      const redis = await redisForTest({ args: ['--appendonly', 'no', '--save', ''] });
      const { sandbox, run, expectMarks } = await begunRun(redis, callers);
      await adminOf(redis).save();
      await sandbox.requested(420);
      await redis.kill();
      await redis.restart();
      expect((await run.end).code).toBe(0);
      await expectMarks();
    },
  );

  test('whose replica takes over without its last second, a run marks what it calls again', async () => {
    const { primary, ofReplica, control, url } = await replicatedRedis();
    const { sandbox, run, expectMarks } = await begunRun(primary, 'two workers elsewhere', {
      CQBATCH_QUEUE: url,
    });
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
    expect((await run.end).code).toBe(0);
    await expectMarks();
  });

  test('and of all processes, a resumed run marks what it calls again', async () => {
    const redis = await redisForTest();
    const { sandbox, machine, workers, run, expectMarks } = await begunRun(redis, 'two workers elsewhere');
    const { file, bytes } = await endOfLog(redis);
    await sandbox.requested(180);
    await redis.kill();
    for (const process of [run, ...workers]) {
      process.kill('SIGKILL');
      await process.end;
    }
    await truncate(file, bytes);
    await redis.restart();
    expect((await machine.run('resume')).code).toBe(0);
    await expectMarks();
  });
});
