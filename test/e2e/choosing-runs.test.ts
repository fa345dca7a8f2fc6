import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, startAtTerminal, startCqbatch } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { restoreCsv } from './manifests.ts';

/** More than a run that is slow enough to be looked at calls in a test. */
const rows = 400;
const slowly = ['--rate', '10/s'];

async function prepared() {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  await writeFile(join(cwd, 'fails.csv'), 'evaluation_id,user_id\n99999,u\n');
  await writeFile(join(cwd, 'good.csv'), 'soundboard_id,title\n1,Hello\n');
  const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%');
  const options = { cwd, env: { ...sandbox.env, ...anyDatastore() } };
  return {
    sandbox,
    options,
    run: (...args: string[]) => cqbatch(args, options),
    /** Starts a run that goes on until it is stopped. */
    async going(id: string) {
      const seen = (await sandbox.log()).length;
      const child = startCqbatch(['run', 'rows.csv', '--yes', '--run-id', id, ...slowly], options);
      const end = finished(child);
      await sandbox.requested(seen + 1);
      return { child, end };
    },
  };
}

describe('without a name', () => {
  test('a command takes the newest run that it applies to, or lists the existing runs', async () => {
    const { run, going, options, sandbox } = await prepared();
    const none = await cqbatch(['status'], { ...options, env: sandbox.env });
    expect(none).toMatchObject({ code: 2 });
    expect(none.stderr).toMatch(/^error: There is no run in \.cqbatch yet\. Start one with/);

    expect(await run('run', 'fails.csv', '--yes', '--run-id', 'failed')).toMatchObject({ code: 1 });
    const { child, end } = await going('stopped');
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 130 });
    expect(await run('run', 'good.csv', '--yes', '--run-id', 'good')).toMatchObject({ code: 0 });
    for (const [args, id] of [
      [['status'], 'good'],
      [['report'], 'good'],
      [['retry', '--yes', '--run-id', 'retried'], 'retried'],
    ] as const)
      expect(JSON.parse((await run(...args, '--json')).stdout)).toMatchObject({ run: id });
    expect(JSON.parse((await run('status', 'retried', '--json')).stdout)).toMatchObject({
      retry_of: 'failed',
    });

    // What can be resumed is not given up unless it is named.
    for (const [verb, what] of [
      ['cancel', 'in progress'],
      ['pause', 'running'],
      ['unpause', 'paused'],
    ] as const) {
      const { code, stderr } = await run(verb, ...(verb === 'cancel' ? ['--yes'] : []));
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining(`error: No run in .cqbatch is ${what}: the newest, retried of `),
      });
    }
    const resumed = await run('resume', '--rate', 'none', '--json');
    expect(JSON.parse(resumed.stdout)).toMatchObject({ run: 'stopped', state: 'completed' });
    const again = await run('resume');
    expect(again).toMatchObject({ code: 2 });
    expect(again.stderr).toContain('No run in .cqbatch can be resumed: the newest, retried of ');
  });

  test('pause, unpause and cancel take the run in progress', async () => {
    const { run, going } = await prepared();
    const { end } = await going('slow');
    expect(await run('pause')).toMatchObject({ code: 0, stdout: expect.stringContaining('slow is paused') });
    expect((await run('resume')).stderr).toContain('is paused. "cqbatch unpause slow" continues it.');
    expect(await run('unpause')).toMatchObject({ code: 0, stdout: 'Run slow is running.\n' });
    expect(await run('cancel', '--yes')).toMatchObject({ code: 0 });
    expect((await end).code).toBe(3);
  });
});

describe('a part of an id', () => {
  test('is enough when no other has it, and refused with the candidates when several have', async () => {
    const { run } = await prepared();
    for (const id of ['night-1', 'night-2'])
      expect(await run('run', 'good.csv', '--yes', '--run-id', id)).toMatchObject({ code: 0 });
    expect(JSON.parse((await run('status', 't-1', '--json')).stdout)).toMatchObject({ run: 'night-1' });
    for (const command of [['status'], ['report'], ['resume'], ['retry', '--yes'], ['cancel', '--yes']]) {
      const { code, stderr } = await run(...command, 'night');
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: 'error: "night" matches 2 runs (night-2, night-1): type more of the id.\n',
      });
    }
    // As a script does whose variable is empty.
    expect(await run('cancel', '')).toMatchObject({ code: 2 });
  });
});

describe('cancel', () => {
  test('needs a name or --yes where there is no terminal', async () => {
    const { run, going } = await prepared();
    const { end } = await going('slow');
    const refused = await run('cancel');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain("error: Not a terminal, so I can't ask: name the run");
    expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ state: 'running' });
    expect(JSON.parse((await run('cancel', '--yes', '--json')).stdout)).toMatchObject({ state: 'cancelled' });
    expect((await end).code).toBe(3);
  });

  test('names the run on a terminal, and asks', async () => {
    const { run, going, options } = await prepared();
    const { end } = await going('slow');
    const answered = async (answer: string) => {
      const child = startAtTerminal(['cancel'], options);
      child.stdout?.on('data', (chunk: Buffer) => {
        if (chunk.includes('[y/N]')) child.stdin?.write(`${answer}\n`);
      });
      return finished(child);
    };
    const declined = await answered('n');
    expect(declined.stdout).toMatch(
      /^Run slow of rows\.csv on http:\S+ is running: \d+ of 400 rows done\.[^C]+Cancel it permanently\? \d+ rows will not be called\. \[y\/N\]/,
    );
    expect(declined).toMatchObject({ code: 2, stdout: expect.stringContaining('Run slow is unchanged.') });
    expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({ state: 'running' });
    expect((await answered('y')).code).toBe(0);
    expect((await end).code).toBe(3);
  });
});
