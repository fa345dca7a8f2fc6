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
export async function expectHalted(
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

/** The rows that were called, in the order of their first calls. */
export async function calledRows(sandbox: TestSandbox): Promise<readonly number[]> {
  return [...new Set((await sandbox.log()).map(({ id }) => Number(id)))];
}

export const numbers = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Of a manifest that is called within seconds. */
export const rows = 60;
export const runArgs = ['run', 'rows.csv', '--yes', '--run-id', 'r'];

/**
 * What halts or stops a run where its rows are fed and called: on each datastore, as it also depends on what is still
 * under way there, or was when a process died.
 */
export function describeHalts(newScene: NewGuardedScene): void {
  test('halts by itself when more than 5 % of the first 100 rows have failed, says why, and can be resumed', async () => {
    const many = 400;
    const scene = await newScene(many, '10%');
    const { home, sandbox, flags } = scene;
    const { code, stderr } = await home.run(...runArgs, ...flags);
    expect({ code, stderr }).toMatchObject({ code: 3 });
    const { state, reason } = await stateOf(home, 'r');
    expect(state).toBe('halted');
    expect(reason).toMatch(
      /^\d+ of \d+ rows failed; --max-failures allows 5%\. Mostly FAILED_PRECONDITION \(\d+ rows\), such as row \d+0 \(evaluation \d+0 is not recoverable\)\. Look at report\.csv, then continue with: cqbatch resume r$/,
    );
    expect(stderr).toContain(`Halted: ${reason}\n`);
    await expectHalted(scene, many, ({ seq }) => seq === 100);

    const before = (await sandbox.log()).length;
    const unguarded = ['--max-failures', '50%', ...flags, '--rate', 'none'];
    const resumed = await home.run('resume', 'r', ...unguarded);
    expect({ code: resumed.code, stderr: resumed.stderr }).toMatchObject({ code: 1 });
    expect((await sandbox.log()).length).toBe(many);
    expect(before).toBeLessThan(many);
    expectEveryRowOnce(await home.report('r'), many);
  });

  test('finishes its canary first when it was killed in the middle of it', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    const slowly = flags.includes('--rate') ? flags : ['--rate', '5/s', ...flags];
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

  test('calls exactly --max-rows rows, exits with 6, and continues when resumed', async () => {
    const { home, sandbox, flags } = await newScene(rows, '0%');
    const run = await home.run(...runArgs, '--max-rows', '25', ...flags);
    expect({ code: run.code, stderr: run.stderr }).toMatchObject({ code: 6 });
    expect(run.stdout).toContain('cqbatch resume r');
    expect((await calledRows(sandbox)).toSorted((a, b) => a - b)).toEqual(numbers(1, 25));
    expect(await stateOf(home, 'r')).toEqual({
      state: 'interrupted',
      reason: 'the 25 rows that --max-rows allows have been called. Continue with: cqbatch resume r',
    });
    expect(await home.run('status', 'r', '--watch')).toMatchObject({ code: 6 });
    expectAgreement(await home.report('r'), await sandbox.log());

    expect(await home.run('resume', 'r', '--max-rows', '34', ...flags)).toMatchObject({ code: 6 });
    expect(await sandbox.log()).toHaveLength(59);
    // A budget applies to one session.
    expect(await home.run('resume', 'r', ...flags)).toMatchObject({ code: 0 });
    expect(await sandbox.log()).toHaveLength(rows);
    expectEveryRowOnce(await home.report('r'), rows);
  });

  test('calls exactly --max-rows rows after it was killed, even with calls in flight', async () => {
    // More than workers elsewhere call before the run is resumed.
    const many = 400;
    const { home, sandbox, flags } = await newScene(many, '0%');
    const slowly = flags.includes('--rate') ? flags : ['--rate', '10/s', ...flags];
    const run = home.start(...runArgs, ...slowly);
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
}
