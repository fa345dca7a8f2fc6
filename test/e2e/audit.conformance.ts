import { hostname, userInfo } from 'node:os';
import { expect, test } from 'vitest';
import type { TestSandbox } from '../helpers/sandbox.ts';
import { eventually, type Machine } from './redis/machine.ts';

/** A machine that runs a manifest, and one from which it is told what to do: the same, where there is only one. */
interface Scene {
  readonly home: Machine;
  readonly elsewhere: Machine;
  readonly sandbox: TestSandbox;
  /** What `run` and `resume` need to be told there. */
  readonly flags: readonly string[];
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
}
