import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSummary } from '../helpers/run-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { kindSandbox } from './redis/machine.ts';

interface RateSummary {
  readonly rejected: number;
  readonly waited_s: number;
}

/** What answers of the API state, and more calls at once than any run makes: none is refused on a slow machine either. */
const statedPerS = 60;
const statedLimit = [
  ...['--limit', `token-bucket:rate=${statedPerS},burst=100`],
  ...['--limit-headers', 'ratelimit'],
] as const;

async function newScene(rows: number, ...flags: string[]) {
  const home = await newHome(rows, [...kindSandbox, ...flags], {});
  return { home, sandbox: home.sandbox };
}

test('a run is refused calls by a limit, which costs no attempt', async () => {
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
  // Those of the last moment may not have been heard of where the run is coordinated.
  expect(rate.rejected).toBeGreaterThan(0);
  expect(rate.rejected).toBeLessThanOrEqual(refused);
});

test('a run waits for a quota, stops at once on request, and keeps waiting after resume', async () => {
  const quota = 30;
  const rows = 100;
  const { home, sandbox } = await newScene(rows, '--limit', `daily-quota:limit=${quota}`);
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r');
  await sandbox.requested(quota + 1);
  await run.says('(the API asks to wait)');
  run.kill('SIGINT');
  // The quota is daily: a run that waited for it would not end here.
  expect(await run.end).toMatchObject({ code: 130 });

  const before = await sandbox.log();
  const interrupted = await home.report('r');
  expectEveryRowOnce(interrupted, rows);
  expectAgreement(interrupted, before);
  const { rate } = (await readSummary(home.folder('r'))) as { rate: RateSummary };
  expect(rate.waited_s).toBeGreaterThan(0);

  const resumed = home.start('resume', 'r');
  await resumed.says('waiting');
  expect((await home.run('cancel', 'r', '--yes')).code).toBe(0);
  expect(await resumed.end).toMatchObject({ code: 3 });
  expect(await sandbox.log()).toHaveLength(before.length);
  expectAgreement(await home.report('r'), before);
});

test('a run passes what it has learned to the next run with the same token', async () => {
  const { home, sandbox } = await newScene(30, ...statedLimit);
  await home.run('run', 'rows.csv', '--yes', '--quiet');
  const file = await readFile(join(home.stateDir, 'limits.json'), 'utf8');
  const [learned] = JSON.parse(file).limits;
  expect(learned).toMatchObject({ base_url: sandbox.url, token: expect.stringMatching(/^[0-9a-f]{4}$/) });
  expect(learned.rate_per_s).toBeCloseTo(statedPerS, -1);

  const again = await home.run('run', 'rows.csv', '--yes', '--quiet', '--log-level', 'info');
  expect(again.stderr).toContain('"reason":"the limit of the last run"');
});

test('a run that waits for hours names what asks for it, and calls at once when told to as it says', async () => {
  const { home, sandbox } = await newScene(30, '--limit', 'daily-quota:limit=10');
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r');
  await run.says('"Retry-After: ');
  await run.says('to call sooner, type: cqbatch set-rate r 5/s');
  sandbox.configure({ limit: 'token-bucket:rate=1000,burst=1000' });
  expect((await home.run('set-rate', 'r', '5/s')).code).toBe(0);
  expect(await run.end).toMatchObject({ code: 0 });
});
