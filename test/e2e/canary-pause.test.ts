import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../src/engine/run/record/record.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { eventually, kindSandbox, type Machine, newMachine, placesOnRedis } from './redis/machine.ts';

const rows = 60;
const reason = 'the first 10 rows are done, 0 failed: look at them, then continue';
const submitArgs = ['rows.csv', '--yes', '--run-id', 'r', '--canary', '10,pause', '--rate', '40/s'];

async function recordOf(home: Machine): Promise<RunRecord> {
  return JSON.parse(await readFile(join(home.folder('r'), 'run.json'), 'utf8')) as RunRecord;
}

/** Waits until this process has paused the run. */
async function untilPausedBy(home: Machine, pid: number): Promise<void> {
  await eventually(async () => {
    const { state, process } = await recordOf(home);
    return state === 'paused' && process?.pid === pid;
  });
}

async function reasonsOfPauses(home: Machine): Promise<readonly unknown[]> {
  const { states } = await recordOf(home);
  return states.filter(({ state }) => state === 'paused').map(({ because, reason: why }) => [because, why]);
}

test('a run of a daemon pauses after its canary, also after a kill, and once only when it is unpaused', async () => {
  const sandbox = await startSandbox(...kindSandbox);
  const home = await newMachine({ sandbox }, rows);
  const first = await home.worker('--coordinate');
  expect(await home.run('submit', ...submitArgs)).toMatchObject({ code: 0 });
  await untilPausedBy(home, first.pid);
  expect(await sandbox.log()).toHaveLength(10);
  expect((await home.run('status', 'r')).stdout).toContain(reason);
  expect((await home.run('show', 'r')).stdout).toMatch(/canary +10 rows, 0 failed: paused\n/);

  first.kill('SIGKILL');
  await first.end;
  const second = await home.worker('--coordinate');
  await untilPausedBy(home, second.pid);
  expect(await sandbox.log()).toHaveLength(10);

  expect(await home.run('unpause', 'r')).toMatchObject({ code: 0, stdout: 'Run r is running.\n' });
  await sandbox.requested(20);
  second.kill('SIGKILL');
  await second.end;
  const third = await home.worker('--coordinate');
  await eventually(async () => (await home.stateOf('r')) === 'completed');
  await third.stop();
  expect(await reasonsOfPauses(home)).toEqual([
    ['canary', reason],
    ['canary', reason],
  ]);
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log(), { killed: true });
});

test('a run in this process pauses after its canary, with its rows shown, and a cancel ends it', async () => {
  const sandbox = await startSandbox(...kindSandbox);
  const home = await newMachine({ sandbox }, rows);
  const run = home.start('run', ...submitArgs);
  await run.says('Canary: 10 rows, 0 failed');
  await untilPausedBy(home, run.pid);
  run.kill('SIGINT');
  expect(await run.end).toMatchObject({ code: 130 });
  const resumed = home.start('resume', 'r', '--yes');
  await untilPausedBy(home, resumed.pid);
  expect(await home.run('cancel', 'r', '--yes')).toMatchObject({ code: 0 });
  expect(await resumed.end).toMatchObject({ code: 3 });
  expect(await sandbox.log()).toHaveLength(10);
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log());
});

test('a run with as few rows as its canary does not pause', async () => {
  const sandbox = await startSandbox(...kindSandbox);
  const home = await newMachine({ sandbox }, 10);
  expect(await home.run('run', ...submitArgs)).toMatchObject({ code: 0 });
  expect(await reasonsOfPauses(home)).toEqual([]);
});

describeWithRedis('a run on Redis that a worker elsewhere calls', () => {
  const newPlace = placesOnRedis();

  test('pauses after its canary, and another machine unpauses it', async () => {
    const place = await newPlace();
    const home = await newMachine(place, rows);
    const elsewhere = await newMachine(place);
    await elsewhere.worker();
    const daemon = await home.worker('--coordinate', '--concurrency', '0');
    expect(await home.run('submit', ...submitArgs)).toMatchObject({ code: 0 });
    await untilPausedBy(home, daemon.pid);
    expect(await place.sandbox.log()).toHaveLength(10);
    expect(await elsewhere.json('status', 'r')).toMatchObject({ state: 'paused' });
    expect(await elsewhere.run('unpause', 'r')).toMatchObject({ code: 0 });
    await eventually(async () => (await home.stateOf('r')) === 'completed');
    await daemon.stop();
    expect(await reasonsOfPauses(home)).toEqual([['canary', reason]]);
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await place.sandbox.log());
  });
});
