import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OutcomeCounts } from '../../src/domain/terms.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

const rows = 400;
const slowly = ['--rate', '100/s', '--concurrency', '10'];

async function prepared(datastore: Readonly<Record<string, string>> = {}) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '20ms');
  return { cwd, sandbox, options: { cwd, env: { ...sandbox.env, CQBATCH_BACKOFF: '50ms', ...datastore } } };
}

describe('a run that is stopped', () => {
  test('by SIGINT ends cleanly with exit code 130, and resume finishes it', async () => {
    const { cwd, sandbox, options } = await prepared(anyDatastore());
    const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], options);
    const end = finished(child);
    await sandbox.requested(50);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
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

    const resumed = await cqbatch(['resume', '--rate', 'none'], options);
    expect(resumed.code).toBe(0);
    const report = await readCsv(folder, 'report.csv');
    expectEveryRowOnce(report, rows);
    expect(report.every((row) => row['_outcome'] === 'succeeded')).toBe(true);
    // Nothing was killed, so nothing was called twice.
    expect(await sandbox.log()).toHaveLength(rows);
    expect(await readCsv(folder, 'not-attempted.csv')).toEqual([]);
  });

  test('goes on after a hangup if it has no terminal, as under nohup', async () => {
    const { sandbox, options } = await prepared(anyDatastore());
    const shell = 'trap "" HUP; exec "$@"';
    const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], { ...options, shell });
    const end = finished(child);
    await sandbox.requested(50);
    child.kill('SIGHUP');
    expect(await end).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Stopping') });
    expect(await sandbox.log()).toHaveLength(rows);
  });

  test('by a second SIGINT ends at once, and resume still finishes it', async () => {
    const { cwd, sandbox, options } = await prepared(anyDatastore());
    const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], options);
    const end = finished(child);
    await sandbox.requested(50);
    child.kill('SIGINT');
    await saying(child, 'Stopping');
    child.kill('SIGINT');
    expect((await end).code).toBe(130);

    expect((await cqbatch(['resume', '--rate', 'none'], options)).code).toBe(0);
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log(), { killed: true });
  });

  test('by kill -9 is not continued by a later run; cancel ends it', async () => {
    const { cwd, sandbox, options } = await prepared();
    const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], options);
    const end = finished(child);
    await sandbox.requested(50);
    child.kill('SIGKILL');
    await end;
    const before = (await sandbox.log()).length;
    const [killed] = JSON.parse((await cqbatch(['list', '--json'], options)).stdout).runs as {
      run: string;
      state: string;
    }[];
    expect(killed?.state).toBe('interrupted');

    await writeFile(join(cwd, 'other.csv'), 'evaluation_id,user_id\n999,u\n');
    expect((await cqbatch(['run', 'other.csv', '--yes'], options)).code).toBe(0);
    expect((await sandbox.log()).slice(before).map(({ id }) => id)).toEqual(['999']);

    const cancelled = await cqbatch(['cancel', killed?.run ?? '', '--json'], options);
    expect(cancelled.code).toBe(0);
    const folder = join(cwd, '.cqbatch', 'runs', killed?.run ?? '');
    const report = await readCsv(folder, 'report.csv');
    expectEveryRowOnce(report, rows);
    const log = (await sandbox.log()).filter(({ id }) => id !== '999');
    expectAgreement(report, log, { killed: true });
    // Rows in flight at the kill may have been done: they are not among those that were never sent.
    const suspected = report.filter((row) => row['_unclear'] === 'yes');
    expect(suspected.length).toBeGreaterThan(0);
    expect(suspected.every((row) => row['_outcome'] === 'failed' && row['_code'] === 'CANCELLED')).toBe(true);

    // Whatever counts these rows, counts as the report does.
    const { outcomes, unclear } = await readSummary(folder);
    const said = async (...command: readonly string[]) =>
      JSON.parse((await cqbatch([...command, '--json'], options)).stdout) as Record<string, unknown>;
    expect(unclear).toBe(suspected.length);
    expect(await said('status', killed?.run ?? '')).toMatchObject({ outcomes, unclear });
    expect(await said('show', killed?.run ?? '')).toMatchObject({ outcomes, unclear });
    const { succeeded, failed } = outcomes as OutcomeCounts;
    expect((await said('list'))['runs']).toContainEqual(
      expect.objectContaining({ run: killed?.run, succeeded, failed }),
    );
  });
});

test('a run of a daemon that only lacks its report is completed, and report writes it', async () => {
  const { cwd, sandbox, options } = await prepared();
  const type = (...args: readonly string[]) => cqbatch(args, options);
  expect(await type('submit', 'rows.csv', '--yes', '--run-id', 'r', '--rate', 'none')).toMatchObject({
    code: 0,
  });
  const folder = join(cwd, '.cqbatch', 'runs', 'r');
  const inTheWay = join(folder, 'report.csv', 'in the way');
  await mkdir(inTheWay, { recursive: true });
  const file = join(cwd, 'daemon.prom');
  const daemon = startCqbatch(['worker', '--coordinate', '--metrics-file', file], options);
  const end = finished(daemon);
  await saying(daemon, 'the work on the run has failed');
  daemon.kill('SIGTERM');
  expect(await end).toMatchObject({ code: 0 });
  expect(await readFile(file, 'utf8')).toMatch(/^cqbatch_runs_total\{result="succeeded",.*\} 1$/m);

  const { state, states } = JSON.parse((await type('status', 'r', '--json')).stdout);
  expect([state, states.at(-1).reason]).toEqual(['completed', undefined]);
  expect(await type('report', 'r')).toMatchObject({ code: 4, stderr: expect.stringContaining('report.csv') });
  expect(await type('resume', 'r')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is complete'),
  });
  await rm(dirname(inTheWay), { recursive: true });
  expect(await type('report', 'r')).toMatchObject({ code: 0 });
  const report = await readCsv(folder, 'report.csv');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log());
});
