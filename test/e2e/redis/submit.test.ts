import { cp, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithRedis } from '../../helpers/redis-server.ts';
import { expectAgreement, expectEveryRowOnce } from '../agreement.ts';
import { restoreCsv } from '../manifests.ts';
import { eventually, type Machine, newMachine, type Place, placesOnRedis } from './machine.ts';

const coordinating = ['--coordinate', '--concurrency', '0'];

describeWithRedis('a submitted run', () => {
  const newPlace = placesOnRedis();

  test('is taken to its end by a coordinator and a worker, and can be followed', async () => {
    const place = await newPlace('--latency', '5ms');
    const home = await newMachine(place, 199);
    await home.write('one-fails.csv', `${await readFile(join(home.cwd, 'rows.csv'), 'utf8')}9000,u\n`);
    // No process works on it yet, and none is waited for.
    const submitted = await home.run('submit', 'one-fails.csv', '--yes', '--run-id', 'monthly');
    expect(submitted).toMatchObject({ code: 0, stdout: 'monthly\n' });
    expect(await home.json('status')).toMatchObject({ run: 'monthly', state: 'submitted', rows: 200 });

    const watching = home.start('status', 'monthly', '--watch');
    await watching.says('Run monthly submitted');
    const coordinator = await home.worker(...coordinating);
    const worker = await (await newMachine(place)).worker();
    // One row fails, as `cqbatch run` would have said.
    const watched = await watching.end;
    expect(watched).toMatchObject({ code: 1 });
    expect(watched.stdout).toContain('Run monthly completed');
    await coordinator.says('no longer coordinating');
    expect(coordinator.logged('row finished')).toEqual([]);

    const report = await home.report('monthly');
    expectEveryRowOnce(report, 200);
    expectAgreement(report, await place.sandbox.log());
    expect([await coordinator.stop(), await worker.stop()]).toMatchObject([{ code: 0 }, { code: 0 }]);
  });

  test('is handed over when its coordinator is stopped, and the next one finishes it', async () => {
    const place = await newPlace('--latency', '20ms');
    const home = await newMachine(place, 300);
    const worker = await (await newMachine(place)).worker('--concurrency', '4', '--timeout', '10m');
    const first = await home.worker(...coordinating);
    await home.run('submit', 'rows.csv', '--yes', '--run-id', 'relay');
    await place.sandbox.requested(50);
    const held = place.sandbox.hold();
    expect((await first.stop()).code).toBe(0);
    expect(await home.stateOf('relay')).toBe('submitted');

    held.release();
    const second = await home.worker(...coordinating);
    expect(await home.run('status', 'relay', '--watch')).toMatchObject({ code: 0 });
    await second.says('no longer coordinating');
    await expectEveryRowCalledOnce(home, 'relay', place, 300);
    expect(worker.logged('row finished')).toHaveLength(300);
  });

  test('continues when its folder returns after a moment, and when its coordinator is killed', async () => {
    const place = await newPlace('--latency', '20ms');
    const home = await newMachine(place, 300);
    await (await newMachine(place)).worker('--concurrency', '4', '--timeout', '10m');
    const first = await home.worker(...coordinating);
    await home.run('submit', 'rows.csv', '--yes', '--run-id', 'orphan');
    await place.sandbox.requested(50);
    // Otherwise the run could end before its coordinator is killed.
    const held = place.sandbox.hold();
    // As it is when its folder was on another disk for a moment.
    const journal = join(home.folder('orphan'), 'journal.jsonl');
    first.kill('SIGSTOP');
    await cp(journal, `${journal}.copy`);
    await rename(`${journal}.copy`, journal);
    first.kill('SIGCONT');
    await eventually(() => first.logged('coordinating').length === 2);
    first.kill('SIGKILL');
    await first.end;
    expect(await home.json('status', 'orphan')).toMatchObject({ state: 'interrupted' });
    held.release();

    const second = await home.worker(...coordinating);
    await eventually(async () => (await home.stateOf('orphan')) === 'completed');
    await second.stop();
    // The worker has lived on: nothing was lost.
    await expectEveryRowCalledOnce(home, 'orphan', place, 300);
  });

  test('is coordinated by one process at a time, even among several', async () => {
    const place = await newPlace('--latency', '5ms');
    const home = await newMachine(place, 100);
    const runs = ['a', 'b', 'c', 'd'];
    for (const [index, run] of runs.entries()) {
      await home.write(`${run}.csv`, restoreCsv(100, 100 * index + 1).text);
      await home.run('submit', `${run}.csv`, '--yes', '--run-id', run);
    }
    await (await newMachine(place)).worker('--concurrency', '10');
    const coordinators = await Promise.all([home.worker(...coordinating), home.worker(...coordinating)]);
    await eventually(async () => {
      const states = await Promise.all(runs.map((run) => home.stateOf(run)));
      return states.every((state) => state === 'completed');
    });
    // Node would warn here of what piles up from run to run.
    for (const { stderr } of await Promise.all(coordinators.map((coordinator) => coordinator.stop())))
      expect(stderr).not.toContain('Warning');
    const started = coordinators.flatMap(({ logged }) => logged('coordinating').map(({ run }) => run));
    expect(started.toSorted()).toEqual(runs);
    const log = await place.sandbox.log();
    expect(log).toHaveLength(100 * runs.length);
    for (const run of runs) {
      expect(await linesOfJournal(home, run)).toBe(100);
      const report = await home.report(run);
      expectEveryRowOnce(report, 100);
      expectAgreement(report, log);
    }
  });
});

async function expectEveryRowCalledOnce(
  home: Machine,
  run: string,
  { sandbox }: Place,
  rows: number,
): Promise<void> {
  const report = await home.report(run);
  const log = await sandbox.log();
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log);
  expect(log).toHaveLength(rows);
  expect(report.filter((row) => row['_outcome'] !== 'succeeded')).toEqual([]);
  expect(await linesOfJournal(home, run)).toBe(rows);
}

/** The results in the journal of a run. */
async function linesOfJournal(home: Machine, run: string): Promise<number> {
  const text = await readFile(join(home.folder(run), 'journal.jsonl'), 'utf8');
  return text.split('\n').filter((line) => line.includes('"outcome"')).length;
}
