import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { type Home, newHome } from './home.ts';
import type { Machine } from './redis/machine.ts';

const concurrency = 4;
const flags = ['--concurrency', `${concurrency}`];

/**
 * One process that does everything, with the guards as users have them.
 *
 * @param failing share of the rows that fails, such as `10%`: every tenth
 */
async function newScene(rows: number, failing: string, datastore: Readonly<Record<string, string>> = {}) {
  const content = ['--evaluations', '3000', '--unrecoverable', failing, '--not-deleted', '0%'];
  const env = { CQBATCH_MAX_FAILURES: '', ...datastore };
  const home = await newHome(rows, [...content, '--latency', '20ms'], env);
  return { home, sandbox: home.sandbox };
}

/** What became of a run, as its record tells. */
async function stateOf(home: Machine, runId: string) {
  const text = await readFile(join(home.folder(runId), 'run.json'), 'utf8');
  const { state, states } = JSON.parse(text) as { state: string; states: { reason?: string }[] };
  return { state, reason: states.at(-1)?.reason ?? '' };
}

/** Each row once, each call reported, and after the one that decides only those in flight, and one more by each of them. */
async function expectHalted({ sandbox, ...home }: Home, rows: number, decisive: number): Promise<void> {
  const log = await sandbox.log();
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log);
  expect(log.length).toBeGreaterThanOrEqual(decisive);
  expect(log.length).toBeLessThanOrEqual(decisive + 2 * concurrency);
}

/** The rows that were called, in the order of their first calls. */
async function calledRows(sandbox: TestSandbox): Promise<readonly number[]> {
  return [...new Set((await sandbox.log()).map(({ id }) => Number(id)))];
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Of a manifest that is called within seconds. */
const rows = 60;
const runArgs = ['run', 'rows.csv', '--yes', '--run-id', 'r'];

test('a run halts by itself when clearly more than 5 % of its rows fail, says why, and can be resumed', async () => {
  const many = 400;
  const { home, sandbox } = await newScene(many, '50%');
  const { code, stderr } = await home.run(...runArgs, ...flags);
  expect({ code, stderr }).toMatchObject({ code: 3 });
  expect((await stateOf(home, 'r')).state).toBe('halted');
  expect(stderr).toMatch(
    /Halted: 8 of the first \d+ rows failed; at 5 % allowed, chance gives that at most once in \S+(?: million)? runs\. All with /,
  );
  await expectHalted(home, many, 16);

  const unguarded = ['--max-failures', '50%', ...flags, '--rate', 'none'];
  expect(await home.run('resume', 'r', ...unguarded)).toMatchObject({ code: 1 });
  expect(await sandbox.log()).toHaveLength(many);
});

test('a run finishes its canary first when it was killed in the middle of it', async () => {
  const { home, sandbox } = await newScene(rows, '0%');
  const slowly = ['--rate', '5/s', ...flags];
  const run = home.start(...runArgs, '--canary', '20,random', ...slowly);
  await sandbox.requested(3);
  run.kill('SIGKILL');
  await run.end;
  const resumed = await home.run('resume', 'r', ...flags);
  expect(resumed).toMatchObject({ code: 0 });
  const shown = resumed.stderr.matchAll(/^ +\d+ {2}(\d+) +succeeded/gm);
  const canary = [...shown].map(([, id]) => Number(id));
  expect(canary).toHaveLength(20);
  expect(canary).not.toEqual(numbers(1, 20));
  const called = await calledRows(sandbox);
  expect(called.slice(0, 20).toSorted((a, b) => a - b)).toEqual(canary);
  expect(called).toHaveLength(rows);
  expectEveryRowOnce(await home.report('r'), rows);
  expectAgreement(await home.report('r'), await sandbox.log(), { killed: true });
});

test('a run calls exactly --max-rows rows, exits with 6, and continues when resumed', async () => {
  const { home, sandbox } = await newScene(rows, '0%');
  const run = await home.run(...runArgs, '--max-rows', '25', ...flags);
  expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 6 });
  expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 25));
  expect(await stateOf(home, 'r')).toEqual({
    state: 'interrupted',
    reason: 'the 25 rows that --max-rows allows have been called',
  });
  expectAgreement(await home.report('r'), await sandbox.log());

  expect(await home.run('resume', 'r', '--max-rows', '34', ...flags)).toMatchObject({ code: 6 });
  expect(await sandbox.log()).toHaveLength(59);
  // A budget applies to one session.
  expect(await home.run('resume', 'r', ...flags)).toMatchObject({ code: 0 });
  expect(await sandbox.log()).toHaveLength(rows);
  expectEveryRowOnce(await home.report('r'), rows);
});

test('a run calls exactly --max-rows rows after it was killed, even with calls in flight', async () => {
  const { home, sandbox } = await newScene(rows, '0%');
  const slowly = ['--rate', '10/s', ...flags];
  const run = home.start(...runArgs, ...slowly);
  await sandbox.requested(5);
  run.kill('SIGKILL');
  await run.end;
  expect(await home.run('resume', 'r', '--max-rows', '7', ...flags)).toMatchObject({ code: 6 });
  const report = await home.report('r');
  const done = report.filter((row) => row['_outcome'] === 'succeeded').map((row) => Number(row['_row']));
  expect(done.length).toBeLessThan(rows);
  expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(done);
  expectAgreement(report, await sandbox.log(), { killed: true });
});

test('a run of which all rows fail halts after 8 of them, unless guards are off', async () => {
  const many = 200;
  const { home, sandbox } = await newScene(many, '100%', anyDatastore());
  const { code, stderr } = await home.run(...runArgs, ...flags);
  expect({ code, stderr }).toMatchObject({ code: 3 });
  expect((await stateOf(home, 'r')).reason).toMatch(
    /^8 of the first 8 rows failed; .+ runs\. All with FAILED_PRECONDITION/,
  );
  await expectHalted(home, many, 8);
  const called = await sandbox.log();
  // As cron starts it again and again, a hopeless manifest calls nothing more.
  const again = [...runArgs, '--or-resume', ...flags];
  expect(await home.run(...again)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('Halted: 8 of the first 8 rows failed'),
  });
  expect(await sandbox.log()).toHaveLength(called.length);
  // A person may want it to go on: then the guards count from there on.
  expect(await home.run(...again, '--resume-halted')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('Halted: 8 of the first 8 rows after the resume failed'),
  });
  const resumed = await home.run('resume', 'r', '--max-failures', 'none', ...flags);
  expect(resumed).toMatchObject({ code: 1 });
  expect(resumed.stderr).toMatch(
    /^Run r was halted\. It now calls the \d+ rows without a result, and counts failures from now on\.$/m,
  );
  expect(await sandbox.log()).toHaveLength(many);
});

test('a run is completed, not halted, when no row is left to call', async () => {
  const { home } = await newScene(10, '10%', anyDatastore());
  const args = [...runArgs, '--max-failures', '0', '--concurrency', '10'];
  expect(await home.run(...args)).toMatchObject({ code: 1 });
  expect(await stateOf(home, 'r')).toEqual({ state: 'completed', reason: '' });
});

test('a run halts after its canary when one of its rows has failed, and calls the rest when resumed', async () => {
  const { home, sandbox } = await newScene(rows, '10%', anyDatastore());
  const run = await home.run(...runArgs, '--canary', '12', ...flags);
  expect(run).toMatchObject({ code: 3 });
  expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 12));
  expect(run.stderr).toMatch(/^ +10 {2}10 +failed +FAILED_PRECONDITION /m);
  const { state, reason } = await stateOf(home, 'r');
  expect(state).toBe('halted');
  expect(reason).toContain(
    '1 of the 12 rows of the canary failed, more than the limit of 0 (canary_max_failures). All with FAILED_PRECONDITION',
  );

  // A start by cron does not go on with the rest.
  expect(await home.run(...runArgs, '--canary', '12', '--or-resume', ...flags)).toMatchObject({ code: 3 });
  expect(await sandbox.log()).toHaveLength(12);
  expect(await home.run('resume', 'r', ...flags)).toMatchObject({ code: 1 });
  expect(await sandbox.log()).toHaveLength(rows);
});

test('a run stops when its time is over, even while paused', async () => {
  const { home, sandbox } = await newScene(rows, '0%', anyDatastore());
  const run = await home.run(...runArgs, '--max-duration', '3s', '--rate', '1/s', ...flags);
  expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 6 });
  expect(run.stderr).toContain('Stopped: the time limit of --max-duration has passed.');
  // All rows would take a minute. The rate leaves a slow machine time to stop.
  expect((await sandbox.log()).length).toBeLessThanOrEqual(rows / 2);

  const resumed = home.start('resume', 'r', '--max-duration', '20s', '--rate', '1/s', ...flags);
  await resumed.says('Run r on');
  await home.run('pause', 'r');
  expect(await resumed.end).toMatchObject({ code: 6 });
});
