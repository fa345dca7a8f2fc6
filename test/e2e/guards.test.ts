import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import type { RedisServer } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import {
  calledRows,
  describeHalts,
  expectHalted,
  type NewGuardedScene,
  numbers,
  rows,
  runArgs,
  stateOf,
} from './guards.conformance.ts';
import { newMachine } from './redis/machine.ts';

const concurrency = 4;
/** As users have it. */
const guarded = { CQBATCH_MAX_FAILURES: '' };

/** One process that does everything. */
function alone(datastore: () => Readonly<Record<string, string>>): NewGuardedScene {
  return async (count, failing) => {
    const content = ['--evaluations', '3000', '--unrecoverable', failing, '--not-deleted', '0%'];
    const sandbox = await startSandbox(...content, '--latency', '20ms');
    const env = { ...guarded, ...datastore() };
    const place = { redis: { url: '' } as RedisServer, sandbox, prefix: 'none', env };
    return {
      home: await newMachine(place, count),
      sandbox,
      flags: ['--concurrency', `${concurrency}`],
      // One more by each of those in flight when it is answered.
      callsAfter: 2 * concurrency,
    };
  };
}

describe('a run on the embedded datastore', () => {
  describeHalts(alone(() => ({})));
});

describe('a run', () => {
  const newScene = alone(anyDatastore);

  test('halts when more rows fail than a number allows', async () => {
    const many = 150;
    const scene = await newScene(many, '10%');
    const { code, stderr } = await scene.home.run(...runArgs, '--max-failures', '3', ...scene.flags);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    await expectHalted(scene, many, (entry, log) => entry === log.filter(({ code }) => code !== 'OK')[3]);
  });

  test('halts when the first 20 rows fail with one code, unless guards are off', async () => {
    const many = 200;
    const scene = await newScene(many, '100%');
    const { home, sandbox, flags } = scene;
    const { code, stderr } = await home.run(...runArgs, ...flags);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect((await stateOf(home, 'r')).reason).toMatch(
      /^the first 20 rows all failed with FAILED_PRECONDITION/,
    );
    await expectHalted(scene, many, ({ seq }) => seq === 20);
    const remedy = 'cqbatch resume r --max-failures none';
    expect((await home.run('status', 'r')).stdout).toMatch(new RegExp(`^ +next +${remedy}$`, 'm'));
    expect(await readFile(join(home.folder('r'), 'report.html'), 'utf8')).toContain(`<code>${remedy}</code>`);
    const called = await sandbox.log();
    // As cron starts it again and again, a hopeless manifest calls nothing more.
    const again = [...runArgs, '--or-resume', ...flags];
    for (const _start of [1, 2]) {
      const start = await home.run(...again);
      expect(start).toMatchObject({ code: 3 });
      expect(start.stderr).toContain('Halted: the first 20 rows all failed');
    }
    expect(await sandbox.log()).toHaveLength(called.length);
    // A person may want it to go on: then the guards count from there on.
    expect(await home.run(...again, '--resume-halted')).toMatchObject({ code: 3 });
    expect((await stateOf(home, 'r')).reason).toMatch(/^the first 20 rows all failed/);
    const resumed = await home.run('resume', 'r', '--max-failures', 'none', ...flags);
    expect(resumed).toMatchObject({ code: 1 });
    expect(await sandbox.log()).toHaveLength(many);
  });

  test('counts failures from before it was stopped', async () => {
    const { home, sandbox, flags } = await newScene(60, '100%');
    const guarded = ['--max-failures', '5', '--max-rows', '4', ...flags];
    expect(await home.run(...runArgs, ...guarded)).toMatchObject({ code: 6 });
    const resumed = await home.run('resume', 'r', ...guarded);
    expect(resumed).toMatchObject({ code: 3 });
    expect((await stateOf(home, 'r')).reason).toMatch(/^6 of 6 rows failed; --max-failures allows 5\./);
    expect((await sandbox.log()).length).toBeLessThanOrEqual(4 + 4);
  });

  test('is completed, not halted, when no row is left to call', async () => {
    const { home, flags } = await newScene(10, '10%');
    const args = [...runArgs, '--max-failures', '0', '--concurrency', '10'];
    expect(await home.run(...args, ...flags)).toMatchObject({ code: 1 });
    expect(await stateOf(home, 'r')).toEqual({ state: 'completed', reason: '' });
  });

  test('halts after its canary when one of its rows has failed, and calls the rest when resumed', async () => {
    const { home, sandbox, flags } = await newScene(rows, '10%');
    const run = await home.run(...runArgs, '--canary', '12', ...flags);
    expect(run).toMatchObject({ code: 3 });
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 12));
    expect(run.stderr).toMatch(/^Canary: 12 rows, 1 failed$/m);
    expect(run.stderr).toMatch(
      /^ +10 {2}10 +failed +FAILED_PRECONDITION {2}evaluation 10 is not recoverable$/m,
    );
    expect(await stateOf(home, 'r')).toEqual({
      state: 'halted',
      reason:
        '1 of the 12 rows of the canary failed; canary_max_failures allows 0. Code FAILED_PRECONDITION, such as row ' +
        '10 (evaluation 10 is not recoverable). Look at report.csv, then continue with: cqbatch resume r',
    });
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log());

    // A start by cron does not go on with the rest.
    const again = await home.run(...runArgs, '--canary', '12', '--or-resume', ...flags);
    expect(again).toMatchObject({ code: 3 });
    expect(await sandbox.log()).toHaveLength(12);

    const resumed = await home.run('resume', 'r', ...flags);
    expect(resumed).toMatchObject({ code: 1 });
    expect(resumed.stderr).not.toContain('Canary');
    expect(await sandbox.log()).toHaveLength(rows);
  });

  test('continues by itself when the canary has no more failures than allowed', async () => {
    const { home, sandbox, flags } = await newScene(rows, '10%');
    const run = await home.runWith(
      { CQBATCH_CANARY_MAX_FAILURES: '1' },
      ...runArgs,
      '--canary',
      '10',
      ...flags,
    );
    expect(run).toMatchObject({ code: 1 });
    const called = await calledRows(sandbox);
    expect(called.slice(0, 10).toSorted((a, b) => a - b)).toEqual(numbers(1, 10));
    expect(called).toHaveLength(rows);
  });

  test('has a canary in a retry, too', async () => {
    const { home, sandbox, flags } = await newScene(rows, '10%');
    expect(await home.run(...runArgs, '--max-failures', 'none', ...flags)).toMatchObject({ code: 1 });
    const before = (await sandbox.log()).length;
    const retried = await home.run('retry', 'r', '--yes', '--run-id', 'again', '--canary', '2', ...flags);
    expect(retried).toMatchObject({ code: 3 });
    // As they are numbered in the manifest that the user gave.
    expect(retried.stderr).toMatch(/^ +10 {2}10 +failed .*\n +20 {2}20 +failed /m);
    expect(
      (await sandbox.log())
        .slice(before)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(['10', '20']);
  });

  test('counts the rows of its canary among those that --max-rows allows', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    expect(await home.run(...runArgs, '--max-rows', '4', '--canary', '6', ...flags)).toMatchObject({
      code: 6,
    });
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 4));
    const resumed = await home.run('resume', 'r', '--max-rows', '12', ...flags);
    expect(resumed).toMatchObject({ code: 6 });
    expect(resumed.stderr).toContain('Canary: 6 rows, 0 failed');
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 16));
  });

  test('stops when its time is over, even while paused', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    const run = await home.run(...runArgs, '--max-duration', '3s', '--rate', '5/s', ...flags);
    expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 6 });
    expect(run.stderr).toContain(
      'Stopped: the time limit of --max-duration has passed. Continue with: cqbatch resume r\n',
    );
    const called = (await sandbox.log()).length;
    // Five a second for three seconds, and the first one at once.
    expect(called).toBeLessThanOrEqual(3 * 5 + 1);
    expectAgreement(await home.report('r'), await sandbox.log());

    const resumed = home.start('resume', 'r', '--max-duration', '20s', '--rate', '1/s', ...flags);
    await resumed.says('Run r on');
    await home.run('pause', 'r');
    expect(await resumed.end).toMatchObject({ code: 6 });
  });
});
