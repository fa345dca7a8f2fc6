import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LogEntry } from '../../src/sandbox/request-log.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import type { Machine } from './redis/machine.ts';

/** A machine that runs a manifest against a sandbox, and those that help it, if any do. */
export interface GuardedScene {
  readonly home: Machine;
  readonly sandbox: TestSandbox;
  /** What `run` and `resume` need to be told there. */
  readonly flags: readonly string[];
  /** The most calls that may yet be made after the answer that decides. */
  readonly callsAfter: number;
}

/** @param rows of the manifest; @param failing share of them that fails, such as `10%`: every tenth */
export type NewGuardedScene = (rows: number, failing: string) => Promise<GuardedScene>;

/** What became of a run, as its record tells. */
export async function stateOf(home: Machine, runId: string) {
  const text = await readFile(join(home.folder(runId), 'run.json'), 'utf8');
  const { state, states } = JSON.parse(text) as { state: string; states: { reason?: string }[] };
  return { state, reason: states.at(-1)?.reason ?? '' };
}

/** Each row once, each call reported, and no more calls after the one that decides than were promised. */
async function expectHalted(
  { home, sandbox, callsAfter }: GuardedScene,
  rows: number,
  decides: (entry: LogEntry, log: readonly LogEntry[]) => boolean,
): Promise<void> {
  const log = await sandbox.log();
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log);
  const decisive = log.findIndex((entry) => decides(entry, log));
  expect(decisive).toBeGreaterThan(-1);
  expect(log.length - decisive - 1).toBeLessThanOrEqual(callsAfter);
  expect(log.length).toBeLessThan(rows);
}

const failures = (log: readonly LogEntry[]) => log.filter(({ code }) => code !== 'OK');

/** The guards that halt a run by what fails, on each datastore. */
export function describeFailureGuards(newScene: NewGuardedScene): void {
  test('halts by itself when more than 5 % of the first 100 rows have failed, says why, and goes on', async () => {
    const rows = 600;
    const scene = await newScene(rows, '10%');
    const { home, sandbox, flags } = scene;
    const { code, stderr } = await home.run('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    const { state, reason } = await stateOf(home, 'r');
    expect(state).toBe('halted');
    expect(reason).toMatch(
      /^\d+ of \d+ rows have failed, and --max-failures allows 5%\. Most with FAILED_PRECONDITION \(\d+ rows\), such as row \d+0 \(evaluation \d+0 is not recoverable\)\. Look at report\.csv, then go on with: cqbatch resume r$/,
    );
    expect(stderr).toContain(`Halted: ${reason}\n`);
    await expectHalted(scene, rows, ({ seq }) => seq === 100);

    const before = (await sandbox.log()).length;
    const resumed = await home.run('resume', 'r', '--max-failures', '50%', ...flags);
    expect({ code: resumed.code, stderr: resumed.stderr }).toMatchObject({ code: 1 });
    expect((await sandbox.log()).length).toBe(rows);
    expect(before).toBeLessThan(rows);
    expectEveryRowOnce(await home.report('r'), rows);
  });

  test('halts when more rows fail than a number allows', async () => {
    const rows = 600;
    const scene = await newScene(rows, '10%');
    const args = ['run', 'rows.csv', '--yes', '--run-id', 'r', '--max-failures', '3', ...scene.flags];
    const { code, stderr } = await scene.home.run(...args);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    await expectHalted(scene, rows, (entry, log) => entry === failures(log)[3]);
  });

  test('halts when the first 20 rows fail with one code, unless nothing is to halt it', async () => {
    const rows = 200;
    const scene = await newScene(rows, '100%');
    const { home, sandbox, flags } = scene;
    const { code, stderr } = await home.run('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    expect((await stateOf(home, 'r')).reason).toMatch(
      /^the first 20 rows have all failed with FAILED_PRECONDITION/,
    );
    await expectHalted(scene, rows, ({ seq }) => seq === 20);
    const resumed = await home.run('resume', 'r', '--max-failures', 'none', ...flags);
    expect(resumed).toMatchObject({ code: 1 });
    expect(await sandbox.log()).toHaveLength(rows);
  });

  test('is completed, not halted, when nothing is left to be called', async () => {
    const { home, flags } = await newScene(10, '10%');
    const args = ['run', 'rows.csv', '--yes', '--run-id', 'r', '--max-failures', '0', '--concurrency', '10'];
    expect(await home.run(...args, ...flags)).toMatchObject({ code: 1 });
    expect(await stateOf(home, 'r')).toEqual({ state: 'completed', reason: '' });
  });
}

/** The rows that were called, in the order of their first calls. */
async function calledRows(sandbox: TestSandbox): Promise<readonly number[]> {
  return [...new Set((await sandbox.log()).map(({ id }) => Number(id)))];
}

const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The rows that are called before all others, on each datastore. */
export function describeCanary(newScene: NewGuardedScene): void {
  const rows = 60;
  const args = ['run', 'rows.csv', '--yes', '--run-id', 'r'];

  test('halts after its canary when a row of it has failed, and goes on with the rest when it is resumed', async () => {
    const { home, sandbox, flags } = await newScene(rows, '10%');
    const run = await home.run(...args, '--canary', '12', ...flags);
    expect(run).toMatchObject({ code: 3 });
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 12));
    expect(run.stderr).toMatch(/^Canary: 12 rows, 1 failed$/m);
    expect(run.stderr).toMatch(
      /^ +10 {2}10 +failed +FAILED_PRECONDITION {2}evaluation 10 is not recoverable$/m,
    );
    expect(await stateOf(home, 'r')).toEqual({
      state: 'halted',
      reason:
        '1 of the 12 rows of the canary have failed, and --canary-max-failures allows 0. It is FAILED_PRECONDITION, such as row ' +
        '10 (evaluation 10 is not recoverable). Look at report.csv, then go on with: cqbatch resume r',
    });
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log());

    const resumed = await home.run('resume', 'r', ...flags);
    expect(resumed).toMatchObject({ code: 1 });
    expect(resumed.stderr).not.toContain('Canary');
    expect(await sandbox.log()).toHaveLength(rows);
  });

  test('goes on by itself when no more rows of its canary failed than are allowed', async () => {
    const { home, sandbox, flags } = await newScene(rows, '10%');
    const run = await home.run(...args, '--canary', '10', '--canary-max-failures', '1', ...flags);
    expect(run).toMatchObject({ code: 1 });
    const called = await calledRows(sandbox);
    expect(called.slice(0, 10).toSorted((a, b) => a - b)).toEqual(numbers(1, 10));
    expect(called).toHaveLength(rows);
  });

  test('finishes its canary first when it was killed in the middle of it', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    const slowly = flags.includes('--rate') ? flags : ['--rate', '5/s', ...flags];
    const run = home.start(...args, '--canary', '20', '--canary-random', ...slowly);
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

  test('has a canary in a retry, too', async () => {
    const { home, sandbox, flags } = await newScene(rows, '10%');
    expect(await home.run(...args, '--max-failures', 'none', ...flags)).toMatchObject({ code: 1 });
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
}

/** What stops a run so that it is gone on with later, on each datastore. */
export function describeBudgets(newScene: NewGuardedScene): void {
  const rows = 60;
  const args = ['run', 'rows.csv', '--yes', '--run-id', 'r'];

  test('calls exactly as many rows as --max-rows says, exits with 6, and goes on when it is resumed', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    const run = await home.run(...args, '--max-rows', '25', ...flags);
    expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 6 });
    expect(run.stdout).toContain('cqbatch resume r');
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 25));
    expect(await stateOf(home, 'r')).toEqual({
      state: 'interrupted',
      reason: '--max-rows allows 25 rows, which have been called. Go on with: cqbatch resume r',
    });
    expect(await home.run('status', 'r', '--watch')).toMatchObject({ code: 6 });
    expectAgreement(await home.report('r'), await sandbox.log());

    expect(await home.run('resume', 'r', '--max-rows', '34', ...flags)).toMatchObject({ code: 6 });
    expect(await sandbox.log()).toHaveLength(59);
    // A budget is of one go.
    expect(await home.run('resume', 'r', ...flags)).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(rows);
    expectEveryRowOnce(await home.report('r'), rows);
  });

  test('counts the rows of its canary among those that --max-rows allows', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    expect(await home.run(...args, '--max-rows', '4', '--canary', '6', ...flags)).toMatchObject({ code: 6 });
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 4));
    const resumed = await home.run('resume', 'r', '--max-rows', '12', ...flags);
    expect(resumed).toMatchObject({ code: 6 });
    expect(resumed.stderr).toContain('Canary: 6 rows, 0 failed');
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 16));
  });

  test('calls exactly as many rows after it was killed, whatever is still under way', async () => {
    // More than workers elsewhere call before somebody resumes the run.
    const many = 400;
    const { home, sandbox, flags } = await newScene(many, '0%');
    const slowly = flags.includes('--rate') ? flags : ['--rate', '10/s', ...flags];
    const run = home.start(...args, ...slowly);
    await sandbox.requested(5);
    run.kill('SIGKILL');
    await run.end;
    expect(await home.run('resume', 'r', '--max-rows', '7', ...flags)).toMatchObject({ code: 6 });
    const report = await home.report('r');
    const done = report.filter((row) => row['_outcome'] === 'succeeded').map((row) => Number(row['_row']));
    expect(done.length).toBeLessThan(many);
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(done);
    expectAgreement(report, await sandbox.log(), { killed: true });
  });

  test('stops when its time is over, also while it is paused', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    const slowly = flags.includes('--rate') ? flags : ['--rate', '5/s', ...flags];
    const run = await home.run(...args, '--max-duration', '3s', ...slowly);
    expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 6 });
    expect(run.stderr).toContain(
      'Stopped: the time that --max-duration allows is over. Go on with: cqbatch resume r\n',
    );
    const called = (await sandbox.log()).length;
    expect(called).toBeLessThan(rows);
    expectAgreement(await home.report('r'), await sandbox.log());

    const resumed = home.start(
      'resume',
      'r',
      '--max-duration',
      '20s',
      '--rate',
      '1/s',
      ...flags.filter((flag) => !/rate|\/s$/.test(flag)),
    );
    await resumed.says('Run r on');
    await home.run('pause', 'r');
    expect(await resumed.end).toMatchObject({ code: 6 });
  });
}
