import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import type { Observed } from '../helpers/observed.ts';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { eventually, type Machine } from './redis/machine.ts';

/** A machine that runs a manifest, and one from which it is told what to do: the same, where there is only one. */
interface Scene {
  readonly home: Machine;
  readonly elsewhere: Machine;
  readonly sandbox: TestSandbox;
  /** What `run` and `resume` need to be told there. */
  readonly flags: readonly string[];
  /** Kills whoever calls the API, and sees to it that somebody does again. */
  readonly kill: (run: Observed) => Promise<void>;
}

export type NewScene = (rows: number, ...sandboxArgs: string[]) => Promise<Scene>;

interface Audit {
  readonly state: string;
  readonly by: { readonly user: string; readonly host: string; readonly version: string };
  readonly reason: string | null;
  readonly events: readonly {
    readonly event: string;
    readonly by: { readonly user: string } | null;
    readonly reason: string | null;
  }[];
}

export interface Story {
  readonly runs: readonly {
    readonly run: string;
    readonly outcome: string;
    readonly code: string;
    readonly unclear: boolean;
    readonly attempts: readonly {
      readonly at: string | null;
      readonly http_status: number | null;
      readonly code: string | null;
      readonly duration_ms: number | null;
    }[];
  }[];
}

const rate = ['--rate', '50/s', '--concurrency', '4'];

/** What can be told of a run afterwards, on each datastore. */
export function describeAudit(newScene: NewScene): void {
  test('tells who did what to it, when and why', async () => {
    const { home, elsewhere, sandbox, flags } = await newScene(2_000, '--latency', '5ms');
    const [run, ...begin] = ['run', 'rows.csv', '--yes', '--run-id', 'r', ...rate, ...flags];
    const first = home.start(run ?? '', ...begin, '--reason', 'week 47 \u001b[31m is lost');
    await sandbox.requested(10);
    expect(await elsewhere.run('pause', 'r', '--reason', 'the API is slow')).toMatchObject({ code: 0 });
    expect(await elsewhere.run('unpause', 'r')).toMatchObject({ code: 0 });
    first.kill('SIGINT');
    expect((await first.end).code).toBe(130);
    const second = home.start('resume', 'r', '--reason', 'it is quick again', ...flags);
    await eventually(async () => (await home.stateOf('r')) === 'running');
    expect(await elsewhere.run('cancel', 'r', '--yes', '--reason', 'wrong column')).toMatchObject({
      code: 0,
    });
    expect((await second.end).code).toBe(3);

    const user = { user: userInfo().username, host: hostname() };
    const by = { ...user, version: expect.any(String) };
    expect(await home.json<Audit>('show', 'r')).toMatchObject({
      ...{ state: 'cancelled', by, reason: 'week 47 \u001b[31m is lost', base_url: sandbox.url },
      ...{ options: { rate: { text: '50/s' }, concurrency: 4 }, plan: { rows: 2_000 } },
      events: [
        { event: 'planned', by, reason: 'week 47 \u001b[31m is lost' },
        { event: 'begun', by, reason: null, at_work_s: expect.any(Number) },
        { event: 'paused', by, reason: 'the API is slow' },
        { event: 'unpaused', by, reason: null },
        { event: 'interrupted', by: null },
        { event: 'resumed', by, reason: 'it is quick again' },
        { event: 'cancelled', by, reason: 'wrong column' },
      ],
    });
    const { stdout } = await home.run('show', 'r');
    const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
    expect(stdout).toMatch(
      new RegExp(
        `${time} {2}planned {6}by ${user.user} on ${user.host}\n {36}week 47 \\\\u001b\\[31m is lost\n`,
      ),
    );
    expect(stdout).toMatch(new RegExp(`${time} {2}cancelled .*\n {36}wrong column\n$`));
    expect(stdout.split('\n').every((line) => line.length <= 80 || line.includes(home.cwd))).toBe(true);
  });

  test('tells every attempt of a row, as the sandbox saw them, also in a retry', async () => {
    const { home, sandbox, flags } = await newScene(60, '--fault', '503=25%,reset=10%,500-after-commit=8%');
    const quickly = ['--yes', '--attempts', '3', '--backoff', '20ms', ...flags];
    await home.run('run', 'rows.csv', '--run-id', 'r', ...quickly);
    await sandbox.post('/sandbox/configure', { fault: 'none' });
    await home.run('retry', 'r', '--run-id', 'again', ...quickly);
    const log = await sandbox.log();
    const report = await home.report('r');
    const interesting = report.filter(
      (row) => Number(row['_attempts']) > 1 || row['_outcome'] !== 'succeeded',
    );
    expect(interesting.length).toBeGreaterThan(3);
    for (const { _row: row = '', evaluation_id: id } of interesting.slice(0, 8)) {
      const { runs } = await home.json<Story>('show', 'r', '--row', row);
      const attempts = runs.flatMap((run) => run.attempts);
      const seen = log.filter((entry) => entry.id === id);
      expect(attempts.map((attempt) => attempt.http_status)).toEqual(seen.map(({ status }) => status));
      expect(
        attempts.filter(({ at, duration_ms: ms, code }) => at === null || ms === null || code === null),
      ).toEqual([]);
      const again = await home.json<Story>('show', 'again', '--row', row);
      if (runs.length > 1) expect(again).toEqual({ ...again, runs });
    }
    const { stdout } = await home.run('show', 'r', '--row', interesting[0]?.['_row'] ?? '');
    expect(stdout).toMatch(/^Row \d+ of run r \(line \d+ of rows.csv\)\n {2}evaluation_id {2}\d+\n/);
    expect(await home.run('show', 'r', '--row', '61')).toMatchObject({ code: 2 });
    expect(await home.run('show', 'r', '--row', 'x')).toMatchObject({ code: 2 });
  });

  test('says of an attempt whose process died that nothing is known of it', async () => {
    const { home, sandbox, kill, flags } = await newScene(40, '--latency', '2s');
    const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--concurrency', '4', ...flags);
    await sandbox.requested(2);
    await kill(run);
    await sandbox.post('/sandbox/configure', { latency: '0ms' });
    // One whose workers were killed goes on by itself.
    if (flags.length > 0) expect((await run.end).code).toBe(0);
    else expect(await home.run('resume', 'r')).toMatchObject({ code: 0 });
    const suspected = (await home.report('r')).find((row) => row['_unclear'] === 'yes');
    const { runs } = await home.json<Story>('show', 'r', '--row', suspected?.['_row'] ?? '');
    const unknown = { at: null, duration_ms: null, http_status: null, code: null };
    expect(runs).toMatchObject([{ outcome: 'succeeded', unclear: true, attempts: [unknown, {}] }]);
    const { stdout } = await home.run('show', 'r', '--row', suspected?.['_row'] ?? '');
    expect(stdout).toContain('nothing is known of it: its process died');
  });
}
