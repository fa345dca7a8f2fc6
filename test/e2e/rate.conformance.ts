import { expect, test } from 'vitest';
import { readSummary } from '../helpers/run-folder.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { expectAgreement, expectEveryRowOnce, mostSentInASecond } from './agreement.ts';
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

/** A limit of the API that its answers don't tell, and how it tells for how long to wait. */
type Unstated = readonly [title: string, flags: readonly [limit: string, retryAfter?: string]];

/** The limits of the API: what is one and the same to the datastore is tried on one of them. */
interface Limits {
  readonly unstated: readonly Unstated[];
  readonly stated: string;
  /**
   * Calls that are refused until such a limit is found. One process loses no more than the rest of a window. Several lose the
   * rest of three: the first, and those of two trials, because they hear of a refusal a beat later (docs/rate.md). What comes
   * on top of that is held to closer bounds where time is simulated (test/bench/rate/simulation.test.ts).
   */
  readonly mostRefused: number;
}

const limitPerS = 25;
const windowOfASecond: Unstated = [
  'a window of a second',
  [`fixed-window:limit=${limitPerS},window=1s`, 'none'],
];

/** For one process. */
export const limitsAlone: Limits = {
  unstated: [['a token bucket', [`token-bucket:rate=${limitPerS},burst=10`]], windowOfASecond],
  stated: 'token-bucket:rate=60,burst=15',
  mostRefused: limitPerS,
};

/** For workers that share the rate. */
export const limitsShared: Limits = {
  unstated: [
    [
      'a token bucket that does not say for how long to wait',
      [`token-bucket:rate=${limitPerS},burst=10`, 'none'],
    ],
    windowOfASecond,
  ],
  stated: 'fixed-window:limit=60,window=1s',
  mostRefused: 3 * limitPerS,
};

/** What a run does whose API limits the rate, on each datastore. */
export function describeRate(newScene: NewScene, { unstated, stated, mostRefused }: Limits): void {
  test.each(unstated)(
    'stays within %s, and what it refuses costs no attempt',
    async (_title, [unstatedLimit, retryAfter]) => {
      // Few enough calls per second that a slow machine makes more, too.
      const rows = 150;
      const { home, sandbox, flags } = await newScene(
        rows,
        ...['--limit', unstatedLimit, '--latency', '10ms', '--retry-after', retryAfter ?? 'header'],
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
      expect(refused).toBeLessThanOrEqual(mostRefused);

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
    },
  );

  test(`is refused no call by an API that states its limit (${stated})`, async () => {
    const rows = 200;
    const { home, sandbox, flags } = await newScene(
      rows,
      ...['--limit', stated, '--latency', '10ms', '--limit-headers', 'ratelimit'],
    );
    const { code } = await home.run('run', 'rows.csv', '--yes', '--run-id', 'r', ...flags);
    expect(code).toBe(0);
    const log = await sandbox.log();
    expect(log).toHaveLength(rows);
    expect(log.filter(({ throttled }) => throttled)).toEqual([]);
  });

  test('never exceeds the bound that the user sets', async () => {
    const rows = 60;
    const { home, sandbox, flags } = await newScene(rows, '--latency', '5ms');
    const run = ['run', 'rows.csv', '--yes', '--run-id', 'r', '--rate', 'auto..10/s', ...flags];
    expect((await home.run(...run)).code).toBe(0);
    // One more than the bound: slots may be used late (docs/rate.md).
    expect(mostSentInASecond(await home.report('r'), await sandbox.log())).toBeLessThanOrEqual(11);
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
