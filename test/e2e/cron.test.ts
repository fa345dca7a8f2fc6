import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';

const rows = 60;
const run = ['run', 'rows.csv', '--yes', '--run-id', 'r'];
/** Ten minutes for all rows: no commands meanwhile take that long, even on a busy machine. */
const slowly = ['--rate', '6/m'];

async function prepared(datastore: Readonly<Record<string, string>> = {}) {
  const home = await newHome(rows, ['--unrecoverable', '0%', '--not-deleted', '0%'], datastore);
  await home.write('good.csv', 'soundboard_id,title\n1,Hello\n');
  await home.write('fails.csv', 'evaluation_id,user_id\n99999,u\n');
  return {
    ...home,
    /** Starts the run `r`, and waits until it has called something. */
    async going() {
      const child = home.start(...run, ...slowly);
      await home.sandbox.requested(1);
      return child;
    },
  };
}

describe('another process at work', () => {
  test('gives exit code 5, at once or after --wait, for a held lock and for a run in progress', async () => {
    const { run: type, going } = await prepared();
    const child = await going();
    const busy = [
      [['run', 'good.csv', '--yes'], /in use by process \d+ on .* \(run r, since /],
      [run, /Run r already exists in \.cqbatch, which is running\. "cqbatch status r" shows it\./],
      [['resume', 'r'], /Run r is running \(process \d+ on .*\)\. Wait for its end \(--wait 10m\)/],
      [
        ['run', 'good.csv', '--yes', '--wait', '500ms'],
        /in use by .*, and still is after .*\. Nothing was sent\./,
      ],
    ] as const;
    for (const [args, message] of busy) {
      const end = await type(...args);
      expect({ args, ...end }).toMatchObject({ code: 5, stdout: '', stderr: expect.stringMatching(message) });
    }
    child.kill('SIGINT');
    await child.end;
  });

  test('is announced once and waited for with --wait; then the work starts', async () => {
    const { start, going, sandbox } = await prepared();
    const child = await going();
    const waiting = start('run', 'good.csv', '--yes', '--run-id', 'later', '--wait', '10m');
    await waiting.says('waiting for up to 10 min. Press Ctrl-C to cancel.');
    const resuming = start('resume', 'r', '--wait', '10m', '--rate', 'none');
    await resuming.says('waiting for up to 10 min');
    child.kill('SIGINT');
    const [later, resumed] = await Promise.all([waiting.end, resuming.end]);
    expect({ later, resumed }).toMatchObject({ later: { code: 0 }, resumed: { code: 0 } });
    expect(later.stderr.match(/waiting for up to/g)).toHaveLength(1);
    expect(await sandbox.log()).toHaveLength(rows + 1);
  });

  test('is no longer waited for after Ctrl-C, and nothing starts', async () => {
    const { cwd, start, going } = await prepared();
    const child = await going();
    const waiting = start('run', 'good.csv', '--yes', '--run-id', 'later', '--wait', '10m');
    await waiting.says('Press Ctrl-C to cancel.');
    waiting.kill('SIGINT');
    const { code, stdout, stderr } = await waiting.end;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toMatch(/Press Ctrl-C to cancel\.\nNothing was sent or changed\.\n$/);
    expect(await readdir(join(cwd, '.cqbatch', 'runs'))).toEqual(['r']);
    child.kill('SIGINT');
    await child.end;
  });
});

test('run --or-resume starts a run, resumes it, and does nothing once it has ended', async () => {
  const { run: type, going, sandbox, report, write } = await prepared(anyDatastore());
  const child = await going();
  child.kill('SIGKILL');
  await child.end;
  const again = [...run, '--or-resume', '--rate', 'none'];
  expect(await type(...again)).toMatchObject({ code: 0 });
  expectEveryRowOnce(await report('r'), rows);

  const calls = (await sandbox.log()).length;
  const done = await type(...again);
  expect(done).toEqual({
    code: 0,
    // A kill may have left rows unclear, which are then to be checked.
    stdout: expect.stringMatching(
      /^Run r is already completed: 60 rows, 60 succeeded\. Nothing was sent\.\n/,
    ),
    stderr: '',
  });
  const refusal = (message: string) => ({ code: 2, stderr: expect.stringContaining(message) });
  expect(await type(...again, '--user-id', 'u')).toMatchObject(refusal('was started without --default'));
  const other = await type('run', 'good.csv', '--yes', '--run-id', 'r', '--or-resume');
  expect(other).toMatchObject(refusal('of another manifest (rows.csv)'));
  await write('rows.csv', 'evaluation_id,user_id\n1,u\n');
  expect(await type(...again)).toMatchObject(refusal('but rows.csv has changed since'));
  expect(await sandbox.log()).toHaveLength(calls);
});

test('-qq prints nothing on success, and what -q prints otherwise', async () => {
  const { run: type } = await prepared(anyDatastore());
  expect(await type('run', 'good.csv', '--yes', '-qq')).toEqual({ code: 0, stdout: '', stderr: '' });
  const failed = await type('run', 'fails.csv', '--yes', '-qq');
  expect(failed).toMatchObject({ code: 1, stderr: '' });
  expect(failed.stdout).toMatch(
    /^Run \S+ completed.*: 1 row, 1 failed\n(.*\n)*Files in .*failed\.csv(.*\n)*$/,
  );
});
