import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSummary } from '../helpers/run-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';
import { eventually, eventuallyTold, kindSandbox, type Machine } from './redis/machine.ts';

interface LearnedLimit {
  readonly base_url: string;
  readonly token: string;
  readonly rate_per_s?: number;
  readonly wait_until?: string;
}

async function estimatedLimits({ stateDir }: Machine): Promise<readonly LearnedLimit[]> {
  const text = await readFile(join(stateDir, 'limits.json'), 'utf8');
  return (JSON.parse(text) as { limits: LearnedLimit[] }).limits;
}

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
const statedPerS = 60;
const statedLimit = [
  ...['--limit', `token-bucket:rate=${statedPerS},burst=100`],
  ...['--limit-headers', 'ratelimit'],
] as const;

const alone =
  (env?: Readonly<Record<string, string>>) =>
  async (rows: number, ...flags: string[]) => {
    const home = await newHome(rows, [...kindSandbox, ...flags], env);
    return { home, sandbox: home.sandbox };
  };

describe('a run on the embedded datastore', () => {
  const newScene = alone({});

  test('is refused calls by a limit, which costs no attempt', async () => {
    const [quota, rows] = [30, 60];
    const limit = `daily-quota:limit=${quota}`;
    const { home, sandbox } = await newScene(rows, '--limit', limit, '--retry-after', 'none');
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--attempts', '1');
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

  test('waits for a quota, stops at once on request, and keeps waiting after resume', async () => {
    const quota = 30;
    const rows = 100;
    const { home, sandbox } = await newScene(rows, '--limit', `daily-quota:limit=${quota}`);
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r');
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

    const resumed = home.start('resume', 'r');
    await resumed.says('waiting');
    expect((await home.run('cancel', 'r')).code).toBe(0);
    expect(await resumed.end).toMatchObject({ code: 3 });
    expect(await sandbox.log()).toHaveLength(before.length);
    expectAgreement(await home.report('r'), before);
  });

  test('passes what it has learned to the next run with the same token', async () => {
    const { home, sandbox } = await newScene(30, ...statedLimit);
    await home.run('run', 'rows.csv', '--yes', '--quiet');
    const [learned] = await estimatedLimits(home);
    expect(learned).toMatchObject({ base_url: sandbox.url, token: expect.stringMatching(/^[0-9a-f]{4}$/) });
    expect(learned?.rate_per_s).toBeCloseTo(statedPerS, -1);

    const again = ['run', 'rows.csv', '--yes', '--quiet', '--log-level', 'info'];
    // It says so at its beginning.
    await home.write('few.csv', restoreCsv(5).text);
    const second = await home.run(...again.with(1, 'few.csv'));
    expect(second.stderr).toContain('"reason":"the limit of the last run"');

    await home.write('secrets/token', 'another-token\n');
    sandbox.configure({ token: 'another-token' });
    const other = await home.run(...again);
    expect(other.stderr).not.toContain('"reason":"the limit of the last run"');
    expect(await estimatedLimits(home)).toHaveLength(2);
  });
});

describe('a run', () => {
  const newScene = alone();

  test('asks the API again at once when resumed with another rate', async () => {
    const quota = 10;
    const { home, sandbox } = await newScene(30, '--limit', `daily-quota:limit=${quota}`);
    const run = home.start('run', 'rows.csv', '--yes');
    await run.says('(the API asks to wait)');
    run.kill('SIGINT');
    await run.end;
    const before = (await sandbox.log()).length;
    const resumed = home.start('resume', '--rate', '50/s');
    await sandbox.requested(before + 1);
    resumed.kill('SIGINT');
    expect(await resumed.end).toMatchObject({ code: 130 });
  });

  test('that waits for hours names what asks for it, and calls at once when told to as it says', async () => {
    const { home, sandbox } = await newScene(30, '--limit', 'daily-quota:limit=10');
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r');
    await run.says('"Retry-After: ');
    await run.says('to call sooner, type: cqbatch set-rate r 5/s');
    await eventually(async () =>
      /"Retry-After: \d+" asks for this wait/.test((await home.run('status', 'r')).stdout),
    );
    sandbox.configure({ limit: 'token-bucket:rate=1000,burst=1000' });
    expect((await home.run('set-rate', 'r', '5/s')).code).toBe(0);
    expect(await run.end).toMatchObject({ code: 0 });
  });
});
