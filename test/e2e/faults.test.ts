import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRateHistory } from '../../src/engine/report/rate-history.ts';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatchProcess, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { allFaults, shapes, startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { mixedCsv, restoreCsv } from './manifests.ts';

const faults = allFaults(0);
const everyFault = faults.map(({ name }) => `${name}=1%`).join(',');
const passingFaults = [
  'reset',
  'timeout',
  '500',
  '503',
  '500-after-commit',
  '502-after-commit',
  '504-after-commit',
]
  .map((name) => `${name}=2%`)
  .join(',');
const sandboxArgs = ['--evaluations', '3000', '--soundboards', '3000', '--slow-body-delay', '100ms'];
const runArgs = ['run', 'manifest.csv', '--yes', '--timeout', '4s'];

describe('a run against every fault', () => {
  test.each(shapes)('reports every row once, as the API in the shape %s saw it', async (shape) => {
    const cwd = await temporaryFolder();
    const { text, rows } = mixedCsv(1_000);
    await writeFile(join(cwd, 'manifest.csv'), text);
    const sandbox = await startSandbox(...sandboxArgs, '--shape', shape, '--fault', everyFault);

    const { code, stderr } = await cqbatchProcess(runArgs, {
      cwd,
      env: { ...sandbox.env, ...anyDatastore(), CQBATCH_BACKOFF: '50ms' },
    });
    expect(stderr).not.toContain('error');
    expect(code).toBe(1);

    const folder = await newestRunFolder(cwd);
    const report = await readCsv(folder, 'report.csv');
    const log = await sandbox.log();
    expectEveryRowOnce(report, rows);
    expectAgreement(report, log);
    expect(new Set(log.map(({ fault }) => fault)).size).toBe(faults.length + 1);

    const { outcomes } = (await readSummary(folder)) as { outcomes: Record<string, number> };
    expect(Object.values(outcomes).reduce((sum, n) => sum + n, 0)).toBe(rows);
    expect(outcomes).toMatchObject({ duplicate: 10, invalid: 0, not_attempted: 0 });
    const failed = await readCsv(folder, 'failed.csv');
    expect(failed).toHaveLength(outcomes['failed'] ?? 0);
  });

  test('with transient faults fails hardly any row', async () => {
    const cwd = await temporaryFolder();
    const { text, rows } = mixedCsv(500);
    await writeFile(join(cwd, 'manifest.csv'), text);
    const sandbox = await startSandbox(...sandboxArgs, '--fault', passingFaults);

    await cqbatchProcess(runArgs, {
      cwd,
      env: { ...sandbox.env, ...anyDatastore(), CQBATCH_BACKOFF: '50ms' },
    });
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log());
    const refusals = ['FAILED_PRECONDITION', 'NOT_FOUND'];
    const failed = report.filter(
      (row) => row['_outcome'] === 'failed' && !refusals.includes(row['_code'] ?? ''),
    );
    expect(failed.length).toBeLessThanOrEqual(1);
  });

  test('and a rate limit uses up no attempt for a 429', async () => {
    const cwd = await temporaryFolder();
    const { text, rows } = mixedCsv(150);
    await writeFile(join(cwd, 'manifest.csv'), text);
    const sandbox = await startSandbox(...sandboxArgs, '--limit', 'token-bucket:rate=20,burst=5');

    await cqbatchProcess([...runArgs, '--attempts', '1'], {
      cwd,
      env: { ...sandbox.env, ...anyDatastore(), CQBATCH_BACKOFF: '50ms' },
    });
    const log = await sandbox.log();
    expect(log.some(({ throttled }) => throttled)).toBe(true);
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, log);
    expect(report.filter((row) => row['_code'] === 'RESOURCE_EXHAUSTED')).toEqual([]);
  });

  test('continues and says so when half of the calls fail at random', async () => {
    const cwd = await temporaryFolder();
    const { text, rows } = restoreCsv(200);
    await writeFile(join(cwd, 'rows.csv'), text);
    const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%', '--fault', '503=50%');

    const args = ['run', 'rows.csv', '--yes', '--attempts', '50'];
    const { code } = await cqbatchProcess(args, {
      cwd,
      env: { ...sandbox.env, ...anyDatastore(), CQBATCH_BACKOFF: '1ms' },
    });
    expect(code).toBe(0);
    const folder = await newestRunFolder(cwd);
    const { reason } = (await readRateHistory(folder)) ?? {};
    expect(reason).toMatch(/^(half|\d+ %) of the calls fail with 503 at any rate$/);
    const report = await readCsv(folder, 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log());
  });

  test('names the last call that it waits for', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'manifest.csv'), mixedCsv(1).text);
    const sandbox = await startSandbox('--fault', 'timeout=100%');
    const run = startCqbatch(['run', 'manifest.csv', '--yes'], {
      cwd,
      env: { ...sandbox.env, ...anyDatastore() },
    });
    await saying(run, '  1 call in flight for ');
    run.kill('SIGKILL');
  });
});
