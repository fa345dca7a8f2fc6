import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OutcomeCounts } from '../../src/domain/terms.ts';
import { finished, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';

const rows = 400;
const slowly = ['--rate', '100/s', '--concurrency', '10'];

const prepared = (env?: Readonly<Record<string, string>>) =>
  newHome(rows, ['--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '20ms'], env);

describe('a run that is stopped', () => {
  test('by SIGINT ends cleanly with exit code 130, and resume finishes it', async () => {
    const { cwd, sandbox, run, start } = await prepared();
    const child = start('run', 'rows.csv', '--yes', ...slowly);
    await sandbox.requested(50);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await child.end;
    expect(code).toBe(130);
    expect(stderr).toContain('Stopping');
    expect(stdout).toMatch(
      /Next: +cqbatch resume 20.*\nEither resume the run, or cancel it \("cqbatch cancel 20/,
    );

    const folder = await newestRunFolder(cwd);
    const interrupted = await readCsv(folder, 'report.csv');
    expectEveryRowOnce(interrupted, rows);
    expectAgreement(interrupted, await sandbox.log());
    const notAttempted = await readCsv(folder, 'not-attempted.csv');
    expect(notAttempted.length).toBeGreaterThan(100);

    const resumed = await run('resume', '--rate', 'none');
    expect(resumed.code).toBe(0);
    const report = await readCsv(folder, 'report.csv');
    expectEveryRowOnce(report, rows);
    expect(report.every((row) => row['_outcome'] === 'succeeded')).toBe(true);
    // Nothing was killed, so nothing was called twice.
    expect(await sandbox.log()).toHaveLength(rows);
    expect(await readCsv(folder, 'not-attempted.csv')).toEqual([]);
  });

  test('goes on after a hangup if it has no terminal, as under nohup', async () => {
    const { sandbox, options } = await prepared();
    const shell = 'trap "" HUP; exec "$@"';
    const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], { ...options, shell });
    const end = finished(child);
    await sandbox.requested(50);
    child.kill('SIGHUP');
    expect(await end).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Stopping') });
    expect(await sandbox.log()).toHaveLength(rows);
  });

  test('by a second SIGINT ends at once, and resume still finishes it', async () => {
    const { cwd, sandbox, run, start } = await prepared();
    const child = start('run', 'rows.csv', '--yes', ...slowly);
    await sandbox.requested(50);
    child.kill('SIGINT');
    await child.says('Stopping');
    child.kill('SIGINT');
    expect((await child.end).code).toBe(130);

    expect((await run('resume', '--rate', 'none')).code).toBe(0);
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log(), { killed: true });
  });

  test('by kill -9 is not continued by a later run; cancel ends it', async () => {
    const { sandbox, run, start, json, ...home } = await prepared({});
    const child = start('run', 'rows.csv', '--yes', '--run-id', 'killed', ...slowly);
    await sandbox.requested(50);
    child.kill('SIGKILL');
    await child.end;
    const before = (await sandbox.log()).length;
    expect(await json('list')).toMatchObject({ runs: [{ run: 'killed', state: 'interrupted' }] });

    await home.write('other.csv', 'evaluation_id,user_id\n999,u\n');
    expect((await run('run', 'other.csv', '--yes')).code).toBe(0);
    expect((await sandbox.log()).slice(before).map(({ id }) => id)).toEqual(['999']);

    expect((await run('cancel', 'killed', '--json')).code).toBe(0);
    const report = await home.report('killed');
    expectEveryRowOnce(report, rows);
    const log = (await sandbox.log()).filter(({ id }) => id !== '999');
    expectAgreement(report, log, { killed: true });
    // Rows in flight at the kill may have been done: they are not among those that were never sent.
    const suspected = report.filter((row) => row['_unclear'] === 'yes');
    expect(suspected.length).toBeGreaterThan(0);
    expect(suspected.every((row) => row['_outcome'] === 'failed' && row['_code'] === 'CANCELLED')).toBe(true);

    // Whatever counts these rows, counts as the report does.
    const { outcomes, unclear } = await readSummary(home.folder('killed'));
    expect(unclear).toBe(suspected.length);
    for (const command of ['status', 'show'])
      expect(await json(command, 'killed')).toMatchObject({ outcomes, unclear });
    const { succeeded, failed } = outcomes as OutcomeCounts;
    expect((await json<{ runs: object[] }>('list')).runs).toContainEqual(
      expect.objectContaining({ run: 'killed', succeeded, failed }),
    );
  });
});

test('a run of a daemon that only lacks its report is completed, and report writes it', async () => {
  const { cwd, sandbox, start, json, run: type, ...home } = await prepared({});
  expect(await type('submit', 'rows.csv', '--yes', '--run-id', 'r', '--rate', 'none')).toMatchObject({
    code: 0,
  });
  const inTheWay = join(home.folder('r'), 'report.csv', 'in the way');
  await mkdir(inTheWay, { recursive: true });
  const file = join(cwd, 'daemon.prom');
  const daemon = start('worker', '--coordinate', '--metrics-file', file);
  await daemon.says('the work on the run has failed');
  daemon.kill('SIGTERM');
  expect(await daemon.end).toMatchObject({ code: 0 });
  expect(await readFile(file, 'utf8')).toMatch(/^cqbatch_runs_total\{result="succeeded",.*\} 1$/m);

  const { state, states } = await json<{ state: string; states: { reason?: string }[] }>('status', 'r');
  expect([state, states.at(-1)?.reason]).toEqual(['completed', undefined]);
  expect(await type('report', 'r')).toMatchObject({ code: 4, stderr: expect.stringContaining('report.csv') });
  expect(await type('resume', 'r')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is complete'),
  });
  await rm(dirname(inTheWay), { recursive: true });
  expect(await type('report', 'r')).toMatchObject({ code: 0 });
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log());
});
