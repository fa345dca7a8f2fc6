import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readVersion } from '../../../src/base/package.ts';
import { type CommandOptions, cqbatch, startCqbatch } from '../../helpers/cqbatch.ts';
import { observe } from '../../helpers/observed.ts';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import type { TestSandbox } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { newHome } from '../home.ts';
import { eventuallyTold, kindSandbox, type Machine, newMachine, placesOnRedis } from './machine.ts';

/** More than any machine calls while a test looks. The sandbox has 3,000; a test uses the last but one besides. */
const rows = 2_900;
/** Slow enough that the run is still going when all of it has been tried. */
const callsPerSecond = 20;
const runArgs = [
  ...['run', 'rows.csv', '--yes', '--run-id', 'r'],
  ...['--rate', `${callsPerSecond}/s`, '--concurrency', '4'],
];

/** Pauses a run, looks at it, lets it go on, and cancels it, with commands that are typed elsewhere. */
async function control(
  home: Machine,
  sandbox: TestSandbox,
  runOptions: CommandOptions,
  elsewhere: CommandOptions,
): Promise<void> {
  const type = (...args: string[]) => cqbatch(args, elsewhere);
  const run = observe(startCqbatch(runArgs, runOptions));
  await sandbox.requested(10);
  const seen = async (): Promise<number> => (await sandbox.log()).length;

  const paused = await type('pause', 'r');
  expect(paused).toMatchObject({ code: 0, stderr: '' });
  expect(paused.stdout).toBe('Run r is paused. Continue with: cqbatch unpause r\n');
  const before = await seen();
  const status = await type('status', 'r', '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ run: 'r', state: 'paused' });
  expect(await type('pause', 'r')).toMatchObject({ stderr: 'error: Run r is paused, not running.\n' });
  expect(await seen()).toBe(before);
  expect(await type('unpause', 'r')).toEqual({ code: 0, stdout: 'Run r is running.\n', stderr: '' });
  await sandbox.requested(before + 10);
  const cancelled = await type('cancel', 'r', '--json', '--yes');
  expect(cancelled.code).toBe(0);
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ run: 'r', state: 'cancelled' });
  const called = await seen();
  const { code, stderr } = await run.end;
  expect({ code, stderr }).toMatchObject({ code: 3 });
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log());
  expect(await seen()).toBe(called);
  expect(called).toBeLessThan(rows);
  expect(report.filter((row) => row['_outcome'] === 'not_attempted')).toHaveLength(rows - called);
}

/** Sets the rate of a run that is going, and of one that is paused, with commands that are typed elsewhere. */
async function setRates(
  home: Machine,
  sandbox: TestSandbox,
  runOptions: CommandOptions,
  elsewhere: CommandOptions,
): Promise<void> {
  const type = (...args: string[]) => cqbatch(args, elsewhere);
  const seen = async (): Promise<number> => (await sandbox.log()).length;
  const slow = ['run', 'rows.csv', '--yes', '--run-id', 'r', '--rate', '2/s', '--concurrency', '4'];
  const run = observe(startCqbatch(slow, runOptions));
  await sandbox.requested(2);
  expect(await type('set-rate', 'r', '20/s', '--reason', 'the night is short')).toEqual({
    code: 0,
    stdout: 'Run r has the rate 20/s.\n',
    stderr: '',
  });
  const before = await seen();
  // At two calls a second this would take most of a minute.
  await sandbox.requested(before + 80);
  // The pace is told once a second.
  await expect
    .poll(async () => JSON.parse((await type('status', 'r', '--json')).stdout), { interval: 500 })
    .toMatchObject({ wanted_rate: '20/s', pace: { allowed_per_s: 20 } });

  await type('pause', 'r');
  const paused = await seen();
  expect(await type('set-rate', 'r', 'auto..10/s')).toMatchObject({ code: 0 });
  expect(JSON.parse((await type('status', 'r', '--json')).stdout)).toMatchObject({
    state: 'paused',
    wanted_rate: 'auto..10/s',
  });
  expect(await seen()).toBe(paused);
  await type('unpause', 'r');
  await sandbox.requested(paused + 5);
  expect(await type('set-rate', 'r', '5/s')).toMatchObject({ code: 0 });
  run.kill('SIGINT');
  expect(await run.end).toMatchObject({ code: 130 });
  expect(JSON.parse(await readFile(join(home.folder('r'), 'run.json'), 'utf8'))).toMatchObject({
    options: { rate: { perSecond: 5 } },
    rates: [{ rate: '20/s', reason: 'the night is short' }, { rate: 'auto..10/s' }, { rate: '5/s' }],
  });
}

test.each([
  ['takes the rate set', setRates],
  ['can be paused, unpaused and cancelled', control],
])('a run on the embedded datastore %s on a second terminal', async (_title, act) => {
  const { sandbox, options, ...home } = await newHome(rows, [...kindSandbox, '--latency', '5ms'], {});
  await act(home, sandbox, options, options);
});

describeWithRedis('a run on Redis', () => {
  const newPlace = placesOnRedis();

  test('can be paused, unpaused and cancelled from another machine', async () => {
    const place = await newPlace('--latency', '5ms');
    const home = await newMachine(place, rows);
    // It knows nothing but the address of Redis.
    const { cwd, env } = await newMachine(place);
    const { CQBATCH_QUEUE = '', CQBATCH_QUEUE_PREFIX = '' } = env;
    await control(home, place.sandbox, home, { cwd, env: { CQBATCH_QUEUE, CQBATCH_QUEUE_PREFIX } });
  });

  test('takes the rate set on another machine, for all workers', async () => {
    const place = await newPlace('--latency', '5ms');
    const home = await newMachine(place, rows);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    const { cwd, env } = await newMachine(place);
    const { CQBATCH_QUEUE = '', CQBATCH_QUEUE_PREFIX = '' } = env;
    const elsewhere = { cwd, env: { CQBATCH_QUEUE, CQBATCH_QUEUE_PREFIX } };
    await setRates(home, place.sandbox, home, elsewhere);
  });

  test('can be found from another machine without its id, and by a part of it', async () => {
    const place = await newPlace('--latency', '5ms');
    const home = await newMachine(place, rows);
    await home.write('one.csv', 'evaluation_id,user_id\n2999,u\n');
    const { code, stderr } = await home.run('run', 'one.csv', '--yes', '--run-id', 'night-1');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'night-2', '--rate', '10/s');
    await place.sandbox.requested(3);
    const elsewhere = await newMachine(place);
    expect(await elsewhere.run('status', 'night')).toMatchObject({
      code: 2,
      stderr: 'error: "night" matches 2 runs (night-2, night-1): type more of the id.\n',
    });
    expect(await elsewhere.json('status', 't-1')).toMatchObject({ run: 'night-1', state: 'completed' });
    expect(await elsewhere.run('pause')).toMatchObject({
      code: 0,
      stdout: 'Run night-2 is paused. Continue with: cqbatch unpause night-2\n',
    });
    expect(await elsewhere.run('unpause')).toMatchObject({ code: 0, stdout: 'Run night-2 is running.\n' });
    expect(await elsewhere.run('cancel')).toMatchObject({ code: 2 });
    expect(await elsewhere.run('cancel', '--yes')).toMatchObject({ code: 0 });
    expect((await run.end).code).toBe(3);
  });

  test('is visible from another machine, with the workers that call its rows', async () => {
    const place = await newPlace('--latency', '5ms');
    const home = await newMachine(place, rows);
    const run = home.start(...runArgs, '--no-worker');
    const worker = await (await newMachine(place)).worker('--concurrency', '7');
    const elsewhere = await newMachine(place);
    type Status = {
      readonly done: number;
      readonly workers: readonly object[];
      readonly pace?: object | null;
    };
    let status: Status | undefined;
    await eventuallyTold(async () => {
      status = await elsewhere.json<Status>('status', 'r');
      return status.done > 0 && status.workers.length > 0 && status.pace;
    });
    // All of the document: cli/render/status.test.ts.
    expect(status).toMatchObject({
      run: 'r',
      state: 'running',
      outcomes: { succeeded: status?.done },
      wanted_rate: `${callsPerSecond}/s`,
      pace: { allowed_per_s: callsPerSecond },
      process: { pid: run.pid, host: hostname(), version: readVersion() },
      workers: [{ host: hostname(), pid: worker.pid, concurrency: 7 }],
    });
    expect(await elsewhere.json('list')).toMatchObject({ runs: [{ run: 'r', state: 'running', rows }] });
    await worker.stop();
    expect(await elsewhere.json('status', 'r')).toMatchObject({ state: 'running', workers: [] });
  });
});
