import { expect, test } from 'vitest';
import { saying } from '../../helpers/cqbatch.ts';
import { adminOf, describeWithRedis, redisForTest } from '../../helpers/redis-server.ts';
import { newestRunFolder, readCsv } from '../../helpers/run-folder.ts';
import { startSandbox } from '../../helpers/sandbox.ts';
import { callsByRow, callsOf, expectEveryRowOnce } from '../agreement.ts';
import { aMoment, begin, calledSince, expectExactness, rows, workers } from './kill-matrix.ts';
import { kindSandbox, newMachine } from './machine.ts';

describeWithRedis('a run is exact', () => {
  test('when redis-server is killed three times', async () => {
    const parts = await begin();
    for (let kills = 0; kills < 3; kills += 1) {
      await calledSince(parts, 240);
      await aMoment(parts, 40);
      await parts.redis.kill();
      if (kills === 1) await saying(parts.coordinator, 'does not answer');
      await parts.redis.restart();
    }
    expect((await parts.end).code).toBe(1);
    // Each restart marks the rows that Redis held.
    await expectExactness(parts, { lost: Number.POSITIVE_INFINITY });
  });

  test('when every connection is cut six times', async () => {
    const parts = await begin();
    const redis = adminOf(parts.redis);
    for (let cuts = 0; cuts < 6; cuts += 1) {
      await aMoment(parts);
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
    expect((await parts.end).code).toBe(1);
    await expectExactness(parts, { lost: 6 * workers });
  });

  test('when Redis forgets everything', async () => {
    const parts = await begin();
    await aMoment(parts);
    const redis = adminOf(parts.redis);
    // Batches with rows that are not finished.
    const held = await redis.keys('*:rows-*-b-*');
    await redis.flushall();
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

  test('when Redis loses its data while no process works on the run', async () => {
    const redis = await redisForTest();
    const sandbox = await startSandbox(...kindSandbox);
    const { cwd, run, start } = await newMachine({ redis, sandbox, prefix: 'forgets' }, 300);
    const killed = start('run', 'rows.csv', '--yes', '--rate', '100/s');
    await sandbox.requested(60);
    // Their results are certainly nowhere.
    const held = sandbox.hold();
    await sandbox.requested(66);
    killed.kill('SIGKILL');
    await killed.end;
    held.release();
    await adminOf(redis).flushall();
    expect((await run('resume', '--rate', 'none')).code).toBe(0);
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expectEveryRowOnce(report, 300);
    const calls = callsByRow(await sandbox.log());
    const calledAgain = report.filter((row) => callsOf(row, calls).length > 1);
    expect(calledAgain.length).toBeGreaterThan(5);
    expect(calledAgain.filter((row) => row['_unclear'] !== 'yes')).toEqual([]);
  });
});
