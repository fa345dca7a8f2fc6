import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCqbatch } from '../../helpers/cqbatch.ts';
import { type Observed, observe } from '../../helpers/observed.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { releaseBefore } from '../../helpers/release-before.ts';
import { startSandbox, type TestSandbox } from '../../helpers/sandbox.ts';
import { startWorker, type WorkerProcess } from '../../helpers/worker.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { calledSince } from './kill-matrix.ts';
import { eventually, kindSandbox, type Machine, newMachine } from './machine.ts';

const rows = 240;
const runId = 'one';
const rate = ['--rate', '80/s'];
const runArgs = ['run', 'rows.csv', '--yes', '--run-id', runId, ...rate];
const resumeArgs = ['resume', runId];
const few = ['--concurrency', '4'];
const daemonArgs = ['--coordinate', '--concurrency', '0'];

type Version = 'before' | 'now';

/** A state folder, and workers that share its datastore. Each process is of either version. */
interface Site {
  readonly home: Machine;
  readonly sandbox: TestSandbox;
  start(version: Version, ...args: readonly string[]): Observed;
  worker(version: Version, ...args: readonly string[]): Promise<WorkerProcess>;
  expectExact(killed: boolean): Promise<void>;
}

let sites = 0;

/** @param redis absent: the embedded datastore */
async function newSite(redis?: RedisServer): Promise<Site> {
  sites += 1;
  const prefix = `upgrade-${sites}`;
  const sandbox = await startSandbox(...kindSandbox, '--latency', '30ms');
  const programs = { now: undefined, before: await releaseBefore() };
  const place = { redis: redis ?? ({ url: '' } as RedisServer), sandbox, prefix };
  const home = await newMachine(place, rows);
  const options = (version: Version) => ({ cwd: home.cwd, env: home.env, program: programs[version] });
  return {
    home,
    sandbox,
    start: (version, ...args) => observe(startCqbatch(args, options(version))),
    worker: (version, ...args) => startWorker(args, options(version)),
    async expectExact(killed) {
      const report = await home.report(runId);
      expectEveryRowOnce(report, rows);
      expectAgreement(report, await sandbox.log(), { killed });
      expect(report.filter((row) => row['_outcome'] !== 'succeeded')).toEqual([]);
    },
  };
}

/** Ends a process so that another one can continue. */
async function end(child: Observed, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal);
  await child.end;
}

/** A run goes from one version to the other and back. */
async function passOn(signal: NodeJS.Signals, redis?: RedisServer) {
  const { sandbox, start, worker, expectExact } = await newSite(redis);
  if (redis !== undefined) await Promise.all([worker('before'), worker('now')]);
  const others = redis === undefined ? [] : ['--no-worker'];
  const first = start('before', ...runArgs, ...others);
  await sandbox.requested(60);
  await end(first, signal);
  const second = start('now', ...resumeArgs, ...others);
  await sandbox.requested(140);
  await end(second, signal);
  expect(await start('before', ...resumeArgs, ...others).end).toMatchObject({ code: 0 });
  await expectExact(signal === 'SIGKILL');
}

describeWithRedis('beside the release before', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** Each worker is killed after the next 60 calls, and replaced by the next one. Others wait for the few rows that it has in hand. */
  async function replaceKilled(coordinator: Version, versions: readonly Version[], ...options: string[]) {
    const { sandbox, start, worker, expectExact } = await newSite(redis);
    const [first, ...others] = versions;
    let caller = await worker(first ?? 'now', ...few);
    const going = start(coordinator, ...runArgs, '--no-worker', ...options);
    for (const version of others) {
      await calledSince({ sandbox }, 60);
      await end(caller, 'SIGKILL');
      caller = await worker(version, ...few);
    }
    expect(await going.end).toMatchObject({ code: 0 });
    expect(caller.logged('pace')).not.toEqual([]);
    await expectExact(true);
  }

  test('workers of either version replace killed ones of the other', async () => {
    await Promise.all([
      replaceKilled('now', ['before', 'now', 'before'], '--priority', 'high'),
      replaceKilled('before', ['now', 'before', 'now']),
      // Its first batches are in a queue that the other version doesn't read.
      replaceKilled('now', ['now', 'before'], '--priority', 'high'),
    ]);
  });

  test('coordinators of either version continue what the other has started', async () => {
    await Promise.all([passOn('SIGKILL', redis), passOn('SIGINT', redis)]);
  });

  test('all processes of an urgent run go back to it, the workers first, and forth', async () => {
    const { home, sandbox, worker, expectExact } = await newSite(redis);
    const young = await worker('now');
    const coordinator = await worker('now', ...daemonArgs);
    await home.run('submit', 'rows.csv', '--yes', '--run-id', runId, '--priority', 'high', ...rate);
    await sandbox.requested(40);
    const old = await worker('before');
    await young.stop();
    await sandbox.requested(90);
    await coordinator.stop();
    const older = await worker('before', ...daemonArgs);
    await sandbox.requested(150);
    await older.stop();
    await worker('now', ...daemonArgs);
    await worker('now');
    await old.stop();
    await eventually(async () => (await home.report(runId)).length > 0);
    await expectExact(false);
  });
});

test('on the embedded datastore, either version resumes what the other has started', async () => {
  await Promise.all([passOn('SIGKILL'), passOn('SIGINT')]);
});
