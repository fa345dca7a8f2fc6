import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunRecord } from '../../src/engine/run/record/record.ts';
import { describeWithRedis } from '../helpers/redis-server.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';
import { eventually, kindSandbox, type Machine, newMachine, placesOnRedis } from './redis/machine.ts';

const rows = 60;
const runArgs = ['run', 'rows.csv', '--yes', '--run-id', 'r'];
const failing = ['--evaluations', '3000', '--not-deleted', '0%', '--unrecoverable', '50%'];

async function recordOf(home: Machine): Promise<RunRecord> {
  return JSON.parse(await readFile(join(home.folder('r'), 'run.json'), 'utf8')) as RunRecord;
}

const inState = (home: Machine, state: string, id = 'r') =>
  eventually(async () => (await home.stateOf(id)) === state);

/** A machine with a run that its guard has halted. */
async function halted() {
  const sandbox = await startSandbox(...failing);
  const home = await newMachine({ sandbox }, rows);
  expect(await home.run(...runArgs, '--max-failures', '3')).toMatchObject({ code: 3 });
  return { home, sandbox };
}

test('a halted run is handed to the daemon with options and a reason, and finished', async () => {
  const { home, sandbox } = await halted();
  const submitted = await home.run('resume', 'r', '--submit', '--max-failures', 'none', '--reason', 'mended');
  expect(submitted).toMatchObject({ code: 0, stdout: 'r\n' });
  expect(submitted.stderr).toMatch(/^Run r was halted\. The daemon calls the \d+ rows without a result/m);
  expect(submitted.stderr).toContain('warning: no daemon is running');
  expect(await home.json('status', 'r')).toMatchObject({ state: 'submitted' });
  expect((await recordOf(home)).states.at(-1)).toMatchObject({ reason: 'mended', by: expect.anything() });
  expect(await home.run('resume', 'r', '--submit')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Run r is already submitted'),
  });
  const daemon = await home.worker('--coordinate');
  await inState(home, 'completed');
  await daemon.stop();
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log());
  expect(await home.run('resume', 'r', '--submit')).toMatchObject({ code: 2 });
});

test('a halted run that goes on at the daemon counts failures from then on', async () => {
  const { home, sandbox } = await halted();
  const before = (await sandbox.log()).length;
  const daemon = await home.worker('--coordinate');
  expect(await home.run('resume', 'r', '--submit', '--max-failures', '3')).toMatchObject({ code: 0 });
  await eventually(
    async () => (await recordOf(home)).states.filter(({ state }) => state === 'halted').length === 2,
  );
  await daemon.stop();
  const log = await sandbox.log();
  expect(log.slice(before).filter(({ code }) => code !== 'OK').length).toBeGreaterThan(3);
  expectAgreement(await home.report('r'), log);
});

test('of two who hand over a run at once, one does', async () => {
  const { home, sandbox } = await halted();
  const both = await Promise.all(
    ['ann', 'ben'].map((who) =>
      home.run('resume', 'r', '--submit', '--max-failures', 'none', '--reason', who),
    ),
  );
  const codes = both.map(({ code }) => code);
  expect(codes.filter((code) => code === 0)).toHaveLength(1);
  expect(codes.filter((code) => code === 2 || code === 5)).toHaveLength(1);
  const { states } = await recordOf(home);
  expect(states.filter(({ state }) => state === 'submitted')).toMatchObject([
    { reason: codes[0] === 0 ? 'ann' : 'ben' },
  ]);
  const daemon = await home.worker('--coordinate');
  await inState(home, 'completed');
  await daemon.stop();
  expectEveryRowOnce(await home.report('r'), rows);
  expectAgreement(await home.report('r'), await sandbox.log());
});

test('a run in progress is not handed over', async () => {
  const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms');
  const home = await newMachine({ sandbox }, rows);
  // Ten minutes for all rows.
  const run = home.start(...runArgs, '--rate', '6/m');
  await sandbox.requested(1);
  expect(await home.run('resume', 'r', '--submit')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('Run r is running'),
  });
  run.kill('SIGINT');
  expect(await run.end).toMatchObject({ code: 130 });
});

describe('a run that was killed on the embedded datastore', () => {
  /** A run that was killed in the middle, and is then handed over. */
  async function killed() {
    const sandbox = await startSandbox(...kindSandbox, '--latency', '20ms');
    const home = await newMachine({ sandbox }, 300);
    const run = home.start(...runArgs, '--rate', '100/s');
    await sandbox.requested(60);
    run.kill('SIGKILL');
    await run.end;
    const handOver = async () => {
      const submitted = await home.run('resume', 'r', '--submit', '--reason', 'its machine is back');
      expect(submitted).toMatchObject({ code: 0 });
      const { states } = await recordOf(home);
      expect(states.map(({ state }) => state)).toEqual(['planned', 'running', 'interrupted', 'submitted']);
    };
    return { sandbox, home, handOver };
  }

  test('keeps its results, although the daemon first takes another run', async () => {
    const { sandbox, home, handOver } = await killed();
    await home.write('urgent.csv', restoreCsv(40, 1_001).text);
    const urgent = ['urgent.csv', '--yes', '--run-id', 'urgent', '--priority', 'high'];
    expect(await home.run('submit', ...urgent)).toMatchObject({ code: 0 });
    await handOver();
    const daemon = await home.worker('--coordinate');
    await inState(home, 'completed', 'urgent');
    await inState(home, 'completed');
    await daemon.stop();
    const log = (await sandbox.log()).filter(({ id }) => Number(id) <= 300);
    const report = await home.report('r');
    expectEveryRowOnce(report, 300);
    expectAgreement(report, log, { killed: true });
  });

  test('goes on when the daemon is killed in the middle, too', async () => {
    const { sandbox, home, handOver } = await killed();
    await handOver();
    const first = await home.worker('--coordinate');
    await sandbox.requested(200);
    first.kill('SIGKILL');
    await first.end;
    const second = await home.worker('--coordinate');
    await inState(home, 'completed');
    await second.stop();
    const report = await home.report('r');
    expectEveryRowOnce(report, 300);
    expectAgreement(report, await sandbox.log(), { killed: true });
  });
});

describeWithRedis('a run on Redis', () => {
  const newPlace = placesOnRedis();

  test('goes on at a daemon, although it was paused from elsewhere before it stopped', async () => {
    const place = await newPlace('--latency', '20ms');
    const home = await newMachine(place, 200);
    const elsewhere = await newMachine(place);
    await elsewhere.worker();
    const run = home.start(...runArgs, '--rate', '2/s');
    await place.sandbox.requested(3);
    expect(await elsewhere.run('pause', 'r')).toMatchObject({ code: 0 });
    run.kill('SIGINT');
    expect(await run.end).toMatchObject({ code: 130 });
    const document = await home.json('resume', 'r', '--submit', '--rate', 'none');
    expect(document).toEqual({ run: 'r', state: 'submitted', next: ['cqbatch status r --watch'] });
    const daemon = await home.worker('--coordinate', '--concurrency', '0');
    await inState(home, 'completed');
    await daemon.stop();
    const report = await home.report('r');
    expectEveryRowOnce(report, 200);
    expectAgreement(report, await place.sandbox.log());
  });
});
