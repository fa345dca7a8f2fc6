import { expect, test } from 'vitest';
import { type OutcomeCounts, totalOf } from '../../src/domain/terms.ts';
import type { CodeCount } from '../../src/engine/journal/state.ts';
import { expectAgreement } from './agreement.ts';
import { type Home, newHome } from './home.ts';

const rows = 240;
const concurrency = 6;

interface Figures {
  readonly outcomes: OutcomeCounts;
  readonly unclear: number;
  readonly rows_per_s: number | null;
}

/** What each command says of the run; they must agree. */
async function figuresOf({ json }: Home): Promise<Figures> {
  const { outcomes, unclear, rows_per_s } = await json<Figures>('status', 'r');
  expect(await json('show', 'r')).toMatchObject({ outcomes, unclear });
  const { succeeded, failed } = outcomes;
  expect(await json('list')).toMatchObject({ runs: [{ run: 'r', succeeded, failed }] });
  return { outcomes, unclear, rows_per_s };
}

test('the figures of a run whose process was killed add up, agree, and count no row as failed that was not called', async () => {
  const home = await newHome(rows, ['--evaluations', '1000', '--latency', '100ms..200ms'], {});
  const paced = ['--rate', 'none', '--concurrency', String(concurrency)];
  const child = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', ...paced);
  await home.sandbox.requested(60);
  child.kill('SIGKILL');
  await child.end;

  // Of every fifty evaluations of the sandbox one can't be restored.
  const before = await figuresOf(home);
  expect(before).toMatchObject({ unclear: 0 });
  expect(totalOf(before.outcomes)).toBe(rows);
  expect(before.outcomes.failed).toBeLessThanOrEqual(rows / 50);
  expect((await home.run('status', 'r')).stdout).toMatch(
    /^ +pending +\d+ rows pending: the datastore knows whether the API was called; resume the run to find out$/m,
  );

  const { summary } = await home.json<{ summary: Figures & { codes: CodeCount[] } }>('report', 'r');
  const { outcomes, unclear, rows_per_s } = summary;
  expect(await figuresOf(home)).toEqual({ outcomes, unclear, rows_per_s });
  const report = await home.report('r');
  const log = await home.sandbox.log();
  expectAgreement(report, log, { killed: true });
  const attempted = report.filter(({ _outcome }) => _outcome !== 'not_attempted').length;
  // An intent that was written, but whose call did not leave: one for each call in flight, and one that is next.
  expect(attempted - log.length).toBeLessThanOrEqual(2 * concurrency);
  expect(attempted).toBeGreaterThanOrEqual(log.length);
  expect(summary.codes.map(({ code }) => code)).not.toContain('PENDING');
});
