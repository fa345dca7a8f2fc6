import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { readSummary } from '../../helpers/run-folder.ts';
import { type SandboxProcess, startSandbox } from '../../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce, mostInASecond } from '../agreement.ts';
import { eventually, kindSandbox, type Machine, newMachine, requested } from './machine.ts';

/** A machine that runs a manifest against a limited API, and those that help it, if any do. */
interface Scene {
  readonly home: Machine;
  readonly sandbox: SandboxProcess;
  /** What `run` and `resume` need to be told there. */
  readonly flags: readonly string[];
}

type NewScene = (rows: number, ...sandboxArgs: string[]) => Promise<Scene>;

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

interface LearnedLimit {
  readonly base_url: string;
  readonly token: string;
  readonly rate_per_s?: number;
  readonly wait_until?: string;
}

async function learnedLimits({ stateDir }: Machine): Promise<readonly LearnedLimit[]> {
  const text = await readFile(join(stateDir, 'limits.json'), 'utf8');
  return (JSON.parse(text) as { limits: LearnedLimit[] }).limits;
}

function describeRate(newScene: NewScene): void {
  test.each([
    ['a token bucket', ['token-bucket:rate=25,burst=10']],
    ['a token bucket that does not say for how long to wait', ['token-bucket:rate=25,burst=10', 'none']],
    ['a window of a second', ['fixed-window:limit=25,window=1s', 'none']],
  ])('stays within %s, and what it refuses costs no attempt', async (_title, [limit = '', retryAfter]) => {
    // Few enough calls per second that a slow machine makes more, too.
    const rows = 150;
    const { home, sandbox, flags } = await newScene(
      rows,
      ...['--limit', limit, '--latency', '10ms', '--retry-after', retryAfter ?? 'header'],
    );
    const { code, stderr } = await home.run(
      ...['run', 'rows.csv', '--yes', '--run-id', 'r', '--attempts', '1', ...flags],
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const log = await sandbox.log();
    const report = await home.report('r');
    expectEveryRowOnce(report, rows);
    // Each call is in `_attempts`, those that were refused among them.
    expectAgreement(report, log);
    const refused = log.filter(({ throttled }) => throttled).length;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(rows / 3);

    const summary = await readSummary(home.folder('r'));
    const rate = summary['rate'] as RateSummary;
    expect(summary).toMatchObject({ attempts: rows + refused, unprocessed: refused });
    expect(rate.wanted).toBe('auto');
    expect(rate.series.reduce((sum, { rejected }) => sum + rejected, 0)).toBe(rate.rejected);
    // Those of the last moment may not have been heard of where the run is coordinated.
    expect(rate.rejected).toBeGreaterThan(0);
    expect(rate.rejected).toBeLessThanOrEqual(refused);
    expect(rate.series.length).toBeGreaterThan(2);
    const times = rate.series.map(({ t_s }) => t_s);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test.each(['token-bucket:rate=60,burst=15', 'fixed-window:limit=60,window=1s'])(
    'is refused no call by an API that states its limit (%s)',
    async (limit) => {
      const rows = 200;
      const { home, sandbox, flags } = await newScene(
        rows,
        ...['--limit', limit, '--latency', '10ms', '--limit-headers', 'ratelimit'],
      );
      const { code } = await home.run('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
      expect(code).toBe(0);
      const log = await sandbox.log();
      expect(log).toHaveLength(rows);
      expect(log.filter(({ throttled }) => throttled)).toEqual([]);
    },
  );

  test('never exceeds the bound that the user sets', async () => {
    const rows = 60;
    const { home, sandbox, flags } = await newScene(rows, '--latency', '5ms');
    const { code } = await home.run('run', 'rows.csv', '--yes', '--rate', 'auto..10/s', ...flags);
    expect(code).toBe(0);
    expect(mostInASecond(await sandbox.log())).toBeLessThanOrEqual(12);
  });

  test('waits for a quota, stops at once when told to, and waits on when it is resumed', async () => {
    const quota = 30;
    const rows = 100;
    const { home, sandbox, flags } = await newScene(rows, '--limit', `daily-quota:limit=${quota}`);
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
    await requested(sandbox, quota + 1);
    await run.says('(the API asks to wait)');
    await eventually(async () =>
      /pace +waiting .+ \(the API asks to wait\)/.test((await home.run('status', 'r')).stdout),
    );
    run.kill('SIGINT');
    // The quota is that of a day: whoever waited for it would not end here.
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

describe('a run on the embedded datastore', () => {
  const newScene: NewScene = async (rows, ...sandboxArgs) => {
    const sandbox = await startSandbox(...kindSandbox, ...sandboxArgs);
    const home = await newMachine({ redis: { url: '' } as RedisServer, sandbox, prefix: 'none' }, rows);
    return { home, sandbox, flags: [] };
  };
  describeRate(newScene);

  test('asks again at once when the user resumes it with a rate of his own', async () => {
    const quota = 10;
    const { home, sandbox } = await newScene(30, '--limit', `daily-quota:limit=${quota}`);
    const run = home.start('run', 'rows.csv', '--yes');
    await run.says('(the API asks to wait)');
    run.kill('SIGINT');
    await run.end;
    const before = (await sandbox.log()).length;
    const resumed = home.start('resume', '--rate', '50/s');
    await requested(sandbox, before + 1);
    resumed.kill('SIGINT');
    expect(await resumed.end).toMatchObject({ code: 130 });
  });

  test('keeps what it has learned for the next one with the same token', async () => {
    const { home, sandbox } = await newScene(150, '--limit', 'token-bucket:rate=20,burst=5');
    await home.run('run', 'rows.csv', '--yes', '--quiet');
    const [learned] = await learnedLimits(home);
    expect(learned).toMatchObject({ base_url: sandbox.url, token: expect.stringMatching(/^[0-9a-f]{4}$/) });
    expect(learned?.rate_per_s).toBeGreaterThan(10);

    const again = ['run', 'rows.csv', '--yes', '--quiet', '--log-level', 'info'];
    const second = await home.run(...again);
    expect(second.stderr).toContain('"reason":"the limit found before"');

    await home.write('secrets/token', 'another-token\n');
    await sandbox.post('/sandbox/token', { token: 'another-token' });
    const other = await home.run(...again);
    expect(other.stderr).not.toContain('"reason":"the limit found before"');
    expect(await learnedLimits(home)).toHaveLength(2);
  });
});

describeWithRedis('a run on Redis that two workers call', () => {
  let redis: RedisServer;
  let scenes = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  describeRate(async (rows, ...sandboxArgs) => {
    scenes += 1;
    const place = {
      redis,
      sandbox: await startSandbox(...kindSandbox, ...sandboxArgs),
      prefix: `rate-${scenes}`,
    };
    const [home] = await Promise.all([newMachine(place, rows)]);
    for (let worker = 0; worker < 2; worker += 1) await (await newMachine(place)).worker();
    await eventually(async () => (await home.run('list')).code === 0);
    return { home, sandbox: place.sandbox, flags: ['--no-worker'] };
  });
});
