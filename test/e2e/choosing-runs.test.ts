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
});

describe('cancel', () => {
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
