import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { type Finished, finished, saying, startCqbatch } from '../../helpers/cqbatch.ts';
import { describeWithRedis, type RedisServer, redisForTest } from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { type SandboxProcess, startSandbox } from '../../helpers/sandbox.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { callsByRow, callsOf, expectAgreement, expectEveryRowOnce, hasUnclearFault } from '../agreement.ts';
import { mixedCsv } from '../manifests.ts';

/**
 * The matrix of kills: a run of 5,000 rows on Redis, fed by one process and called by two others, loses one of its
 * parts several times at random moments. Nothing waits for the pauses here: the moment is what is random.
 */

const rows = 5_000;
const concurrency = 15;
const workers = 2;
const faults = 'reset=0.5%,500=0.5%,502-after-commit=0.5%,malformed=0.5%,503=0.5%';
/** Slow enough that the last kill still meets a run that is going. */
const usualRate = '600/s';

interface Parts {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly redis: RedisServer;
  readonly sandbox: SandboxProcess;
  readonly workers: ChildProcess[];
  readonly coordinator: ChildProcess;
  /** Of the coordinator that the run began with. */
  readonly end: Promise<Finished>;
}

async function begin(rate = usualRate): Promise<Parts> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'manifest.csv'), mixedCsv(rows).text);
  const redis = await redisForTest();
  const sandbox = await startSandbox(
    ...['--evaluations', '6000', '--soundboards', '6000', '--latency', '5ms..30ms', '--fault', faults],
  );
  const env = { ...sandbox.env, CQBATCH_QUEUE: redis.url };
  const parts = { cwd, env, redis, sandbox, workers: [] as ChildProcess[] };
  for (let index = 0; index < workers; index += 1) parts.workers.push(await startWorker(parts));
  const args = ['run', 'manifest.csv', '--yes', '--rate', rate, '--backoff', '50ms', '--no-worker'];
  const coordinator = startCqbatch(args, { cwd, env });
  const end = finished(coordinator);
  await saying(coordinator, 'Run 20');
  return { ...parts, coordinator, end };
}

async function startWorker({ cwd, env }: Pick<Parts, 'cwd' | 'env'>): Promise<ChildProcess> {
  const child = startCqbatch(['worker', '--concurrency', String(concurrency)], { cwd, env });
  await saying(child, 'worker started');
  // A full pipe would stop it.
  child.stderr?.resume();
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

const aMoment = () => sleep(300 + Math.random() * 1_500);

/** @param lost rows that may have been in flight where something was lost, all in all. */
async function expectExactness({ cwd, sandbox }: Parts, lost: number): Promise<void> {
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  const log = await sandbox.log();
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log, { killed: true });
  expect(report.filter((row) => row['_outcome'] === 'not_attempted')).toEqual([]);
  const calls = callsByRow(log);
  const suspected = report.filter((row) => row['_unclear'] === 'yes' && !hasUnclearFault(row, calls));
  expect(suspected.length).toBeLessThanOrEqual(lost);
}

describeWithRedis('a run on Redis is exact', () => {
  test('when its coordinator is killed three times', { timeout: 180_000 }, async () => {
    const parts = await begin();
    let { coordinator } = parts;
    for (let kills = 0; kills < 3; kills += 1) {
      await aMoment();
      await kill(coordinator);
      coordinator = startCqbatch(['resume', '--no-worker'], parts);
      await saying(coordinator, 'Run 20');
    }
    const { code } = await finished(coordinator);
    expect(code).toBe(1);
    // The workers lived on: no call was lost.
    await expectExactness(parts, 0);
  });

  test('when one of its workers is killed three times', { timeout: 180_000 }, async () => {
    const parts = await begin();
    for (let kills = 0; kills < 3; kills += 1) {
      await aMoment();
      const [victim] = parts.workers.splice(0, 1);
      if (victim !== undefined) await kill(victim);
      parts.workers.push(await startWorker(parts));
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, 3 * concurrency);
  });

  test('when all of its workers are killed twice', { timeout: 180_000 }, async () => {
    const parts = await begin();
    for (let kills = 0; kills < 2; kills += 1) {
      await aMoment();
      await Promise.all(parts.workers.splice(0).map(kill));
      for (let index = 0; index < workers; index += 1) parts.workers.push(await startWorker(parts));
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, 2 * workers * concurrency);
  });

  test('when one process does everything and is killed twice', { timeout: 180_000 }, async () => {
    const parts = await begin();
    await Promise.all(parts.workers.map(kill));
    let { coordinator } = parts;
    for (let kills = 0; kills < 2; kills += 1) {
      await aMoment();
      await kill(coordinator);
      coordinator = startCqbatch(['resume', '--concurrency', String(concurrency)], parts);
      await saying(coordinator, 'Run 20');
    }
    expect((await finished(coordinator)).code).toBe(1);
    await expectExactness(parts, (workers + 1) * concurrency);
  });

  test('when redis-server is killed three times', { timeout: 180_000 }, async () => {
    const parts = await begin();
    for (let kills = 0; kills < 3; kills += 1) {
      await aMoment();
      await parts.redis.kill();
      await sleep(Math.random() * 1_000);
      await parts.redis.restart();
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, 3 * workers * concurrency);
  });

  test('when every connection is cut six times', { timeout: 180_000 }, async () => {
    const parts = await begin();
    const redis = new Redis(parts.redis.port);
    for (let cuts = 0; cuts < 6; cuts += 1) {
      await aMoment();
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
    redis.disconnect();
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, 6 * workers * concurrency);
  });

  test('when both of its workers are frozen for longer than their locks', { timeout: 240_000 }, async () => {
    // It must still be going when they thaw.
    const parts = await begin('130/s');
    const frozen = [...parts.workers];
    for (const worker of frozen) {
      await aMoment();
      worker.kill('SIGSTOP');
    }
    await startWorker(parts);
    // About as long as it takes to give their rows to others: a lock and one or two checks (src/queue/bullmq.ts).
    await sleep(20_000);
    for (const worker of frozen) {
      await sleep(Math.random() * 6_000);
      worker.kill('SIGCONT');
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, workers * concurrency);
  });

  test('when Redis forgets everything', { timeout: 180_000 }, async () => {
    const parts = await begin();
    await aMoment();
    const redis = new Redis(parts.redis.port);
    // Unfinished rows, and results that nobody had collected.
    const held = await redis.keys('*:rows-*-r*');
    await redis.flushall();
    redis.disconnect();
    expect((await parts.end).code).toBe(1);
    const report = await readCsv(await newestRunFolder(parts.cwd), 'report.csv');
    expectEveryRowOnce(report, rows);
    expect(report.filter((row) => row['_outcome'] === 'not_attempted')).toEqual([]);
    // How often the forgotten rows were called is forgotten too, but not that they may have been.
    const calls = callsByRow(await parts.sandbox.log());
    const calledAgain = report.filter((row) => callsOf(row, calls).length > Number(row['_attempts']));
    expect(calledAgain.filter((row) => row['_unclear'] !== 'yes' && row['_outcome'] !== 'duplicate')).toEqual(
      [],
    );
    expect(held.length).toBeGreaterThan(0);
  });
});
