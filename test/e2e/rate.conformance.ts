import { expect, test } from 'vitest';
import { readSummary } from '../helpers/run-folder.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';
import { eventuallyTold, type Machine } from './redis/machine.ts';

/** A machine that runs a manifest against a limited API, and those that help it, if any do. */
interface Scene {
  readonly home: Machine;
  readonly sandbox: TestSandbox;
  /** What `run` and `resume` need to be told there. */
  readonly flags: readonly string[];
}

export type NewScene = (rows: number, ...sandboxArgs: string[]) => Promise<Scene>;

interface RateSummary {
  readonly wanted: string;
  readonly rejected: number;
  readonly waited_s: number;
  readonly series: readonly {
    readonly t_s: number;
    readonly allowed_per_s: number;
    readonly rejected: number;
  }[];
}

/** What answers of the API state, and more calls at once than any run makes: none is refused on a slow machine either. */
export const statedPerS = 60;
export const statedLimit = [
  ...['--limit', `token-bucket:rate=${statedPerS},burst=100`],
  ...['--limit-headers', 'ratelimit'],
] as const;

/** What a run does whose API limits the rate, on each datastore. How fast it is: test/engine/rate, in simulated time. */
export function describeRate(newScene: NewScene): void {
  test('is refused calls by a limit, which costs no attempt', async () => {
    const [quota, rows] = [30, 60];
    const limit = `daily-quota:limit=${quota}`;
    const { home, sandbox, flags } = await newScene(rows, '--limit', limit, '--retry-after', 'none');
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--attempts', '1', ...flags);
    await sandbox.requested(quota + 1);
    sandbox.configure({ limit: 'none' });
    expect(await run.end).toMatchObject({ code: 0 });
    const log = await sandbox.log();
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    // Each call is in `_attempts`, those that were refused among them.
    expectAgreement(report, log);
    const refused = log.filter(({ throttled }) => throttled).length;

    const summary = await readSummary(home.folder('r'));
    const rate = summary['rate'] as RateSummary;
    expect(summary).toMatchObject({ attempts: rows + refused, unprocessed: refused });
    expect(rate.wanted).toBe('auto');
    expect(rate.series.reduce((sum, { rejected }) => sum + rejected, 0)).toBe(rate.rejected);
    // Those of the last moment may not have been heard of where the run is coordinated.
    expect(rate.rejected).toBeGreaterThan(0);
    expect(rate.rejected).toBeLessThanOrEqual(refused);
    const times = rate.series.map(({ t_s }) => t_s);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test('is allowed just less than the API states, or than the user does', async () => {
    const { home, sandbox, flags } = await newScene(120, ...statedLimit);
    const allowed = async (run: string): Promise<number> => {
      const { rate } = (await readSummary(home.folder(run))) as { rate: RateSummary };
      return Math.max(...rate.series.map(({ allowed_per_s }) => allowed_per_s));
    };
    const run = ['run', 'rows.csv', '--yes', ...flags];
    expect(await home.run(...run, '--run-id', 'stated')).toMatchObject({ code: 0 });
    expect(await allowed('stated')).toBeLessThan(statedPerS);
    await home.write('few.csv', restoreCsv(40, 1_001).text);
    run[1] = 'few.csv';
    expect(await home.run(...run, '--run-id', 'bound', '--rate', 'auto..30/s')).toMatchObject({ code: 0 });
    expect(await allowed('bound')).toBe(30);
    expect((await sandbox.log()).filter(({ throttled }) => throttled)).toEqual([]);
  });

  test('waits for a quota, stops at once on request, and keeps waiting after resume', async () => {
    const quota = 30;
    const rows = 100;
    const { home, sandbox, flags } = await newScene(rows, '--limit', `daily-quota:limit=${quota}`);
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
    await sandbox.requested(quota + 1);
    await run.says('(the API asks to wait)');
    await eventuallyTold(async () =>
      /allowed rate +waiting .+ \(the API asks to wait\)/.test((await home.run('status', 'r')).stdout),
    );
    run.kill('SIGINT');
    // The quota is daily: a run that waited for it would not end here.
    expect(await run.end).toMatchObject({ code: 130 });

    const before = await sandbox.log();
    const interrupted = await home.report('r');
    expectEveryRowOnce(interrupted, rows);
    expectAgreement(interrupted, before);
    expect(interrupted.filter((row) => row['_outcome'] === 'succeeded')).toHaveLength(quota);
    const { rate } = (await readSummary(home.folder('r'))) as { rate: RateSummary };
    expect(rate.waited_s).toBeGreaterThan(0);

    const resumed = home.start('resume', 'r', ...flags);
    await resumed.says('waiting');
    expect((await home.run('cancel', 'r')).code).toBe(0);
    expect(await resumed.end).toMatchObject({ code: 3 });
    expect(await sandbox.log()).toHaveLength(before.length);
    expectAgreement(await home.report('r'), before);
  });
}
