import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type OutcomeCounts, totalOf } from '../../src/domain/terms.ts';
import type { CodeCount } from '../../src/engine/journal/state.ts';
import { type CommandOptions, cqbatch, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectAgreement } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

const rows = 240;
const concurrency = 6;

describe('the figures of a run whose process was killed', () => {
  /** What each command says of the run; they must agree. */
  async function figuresOf(options: CommandOptions) {
    const document = async (...args: readonly string[]) =>
      JSON.parse((await cqbatch([...args, '--json'], options)).stdout);
    const { outcomes, unclear, rows_per_s: rate } = await document('status', 'r');
    expect(await document('show', 'r')).toMatchObject({ outcomes, unclear });
    const { succeeded, failed } = outcomes as OutcomeCounts;
    expect((await document('list')).runs).toMatchObject([{ run: 'r', succeeded, failed }]);
    return { outcomes: outcomes as OutcomeCounts, unclear, rate };
  }

  test('add up, agree, and count no row as failed that was not called', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, 'manifest.csv'), restoreCsv(rows).text);
    const sandbox = await startSandbox('--evaluations', '1000', '--latency', '100ms..200ms');
    const options = { cwd, env: sandbox.env };
    const paced = ['--rate', 'none', '--concurrency', String(concurrency)];
    const child = startCqbatch(['run', 'manifest.csv', '--yes', '--run-id', 'r', ...paced], options);
    await sandbox.requested(60);
    child.kill('SIGKILL');
    await once(child, 'close');

    // Of every fifty evaluations of the sandbox one can't be restored.
    const before = await figuresOf(options);
    expect(before).toMatchObject({ unclear: 0 });
    expect(totalOf(before.outcomes)).toBe(rows);
    expect(before.outcomes.failed).toBeLessThanOrEqual(rows / 50);
    expect((await cqbatch(['status', 'r'], options)).stdout).toMatch(
      /^ +\d+ of the rows not attempted may have been called: resuming the run finds out$/m,
    );

    const { summary } = JSON.parse((await cqbatch(['report', 'r', '--json'], options)).stdout);
    expect(await figuresOf(options)).toEqual({
      outcomes: summary.outcomes,
      unclear: summary.unclear,
      rate: summary.rows_per_s,
    });
    const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
    const log = await sandbox.log();
    expectAgreement(report, log, { killed: true });
    const attempted = report.filter(({ _outcome }) => _outcome !== 'not_attempted').length;
    // An intent that was written, but whose call did not leave: one for each call in flight, and one that is next.
    expect(attempted - log.length).toBeLessThanOrEqual(2 * concurrency);
    expect(attempted).toBeGreaterThanOrEqual(log.length);
    expect(summary.codes.map(({ code }: CodeCount) => code)).not.toContain('PENDING');
  });
});
