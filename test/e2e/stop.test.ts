import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { finished, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';

const rows = 400;
const slowly = ['--rate', '100/s', '--concurrency', '10'];

const prepared = (env?: Readonly<Record<string, string>>) =>
  newHome(rows, ['--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '20ms'], env);

test('a run that is stopped by SIGINT ends cleanly with exit code 130, and resume finishes it', async () => {
  const { cwd, sandbox, run, start } = await prepared();
  const child = start('run', 'rows.csv', '--yes', ...slowly);
  await sandbox.requested(50);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await child.end;
  expect(code).toBe(130);
  expect(stderr).toContain('Stopping');
  expect(stdout).toMatch(/^Next: Continue with the \d+ rows that are left\n {2}cqbatch resume 20/m);
  const folder = await newestRunFolder(cwd);
  const interrupted = await readCsv(folder, 'report.csv');
  expectEveryRowOnce(interrupted, rows);
  expectAgreement(interrupted, await sandbox.log());
  expect((await readCsv(folder, 'not-attempted.csv')).length).toBeGreaterThan(100);
  expect(await run('resume', '--rate', 'none')).toMatchObject({ code: 0 });
  const report = await readCsv(folder, 'report.csv');
  expectEveryRowOnce(report, rows);
  // Nothing was killed, so nothing was called twice.
  expect(await sandbox.log()).toHaveLength(rows);
  expect(await readCsv(folder, 'not-attempted.csv')).toEqual([]);
});

test('a run goes on after a hangup if it has no terminal, as under nohup', async () => {
  const { sandbox, options } = await prepared();
  const shell = 'trap "" HUP; exec "$@"';
  const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], { ...options, shell });
  const end = finished(child);
  await sandbox.requested(50);
  child.kill('SIGHUP');
  expect(await end).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Stopping') });
  expect(await sandbox.log()).toHaveLength(rows);
});

test('a run that is stopped by kill -9 is not continued by a later run; cancel ends it', async () => {
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

  expect((await run('cancel', 'killed', '--yes', '--json')).code).toBe(0);
  const report = await home.report('killed');
  expectEveryRowOnce(report, rows);
  const log = (await sandbox.log()).filter(({ id }) => id !== '999');
  expectAgreement(report, log, { killed: true });
  // Rows in flight at the kill may have been done: they are not among those that were never sent.
  const suspected = report.filter((row) => row['_unclear'] === 'yes');
  expect(suspected.length).toBeGreaterThan(0);
  expect(suspected.every((row) => row['_outcome'] === 'failed' && row['_code'] === 'CANCELLED')).toBe(true);

  // What counts these rows, counts as the report does.
  const { outcomes, unclear } = await readSummary(home.folder('killed'));
  expect(unclear).toBe(suspected.length);
  expect(await json('status', 'killed')).toMatchObject({ outcomes, unclear });
});

test('a run of a daemon that only lacks its report is completed, and report writes it', async () => {
  const { sandbox, start, json, run: type, ...home } = await prepared({});
  expect(await type('submit', 'rows.csv', '--yes', '--run-id', 'r', '--rate', 'none')).toMatchObject({
    code: 0,
  });
  const inTheWay = join(home.folder('r'), 'report.csv', 'in the way');
  await mkdir(inTheWay, { recursive: true });
  const daemon = start('worker', '--coordinate');
  await daemon.says('the work on the run has failed');
  daemon.kill('SIGTERM');
  expect(await daemon.end).toMatchObject({ code: 0 });
  const { state, states } = await json<{ state: string; states: { reason?: string }[] }>('status', 'r');
  expect([state, states.at(-1)?.reason]).toEqual(['completed', undefined]);
  expect(await type('report', 'r')).toMatchObject({ code: 4, stderr: expect.stringContaining('report.csv') });
  await rm(dirname(inTheWay), { recursive: true });
  expect(await type('report', 'r')).toMatchObject({ code: 0 });
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log());
});
