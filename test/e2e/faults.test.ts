import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatchProcess } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv, readSummary } from '../helpers/run-folder.ts';
import { allFaults, shapes } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { mixedCsv } from './manifests.ts';

/** An answer for another entry halts a run. */
const faults = allFaults(0).filter(({ name }) => name !== 'wrong-id');
/** Few calls may take as long as a call that gets no answer. */
const everyFault = faults
  .map(({ name }) => `${name}=${name.startsWith('timeout') ? '0.3%' : '1%'}`)
  .join(',');
const sandboxArgs = ['--evaluations', '3000', '--soundboards', '3000', '--slow-body-delay', '100ms'];
/** A call that takes that long on a slow machine would count as unclear, for which the sandbox knows no reason. */
const runArgs = ['run', 'rows.csv', '--yes', '--timeout', '20s'];

test.each(shapes)(
  'a run against every fault reports every row once, as the API in the shape %s saw it',
  async (shape) => {
    const { text, rows } = mixedCsv(1_000);
    const env = { ...anyDatastore(), CQBATCH_BACKOFF: '50ms' };
    const flags = [...sandboxArgs, '--shape', shape, '--fault', everyFault];
    const { cwd, sandbox, options } = await newHome(text, flags, env);
    const { code, stderr } = await cqbatchProcess(runArgs, options);
    expect(stderr).not.toMatch(/^error: /m);
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
  },
);
