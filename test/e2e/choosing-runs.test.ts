import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cqbatchAtTerminal } from '../helpers/cqbatch.ts';
import { newHome } from './home.ts';
import { calledSince } from './redis/kill-matrix.ts';
import { eventually } from './redis/machine.ts';

/** Minutes for all rows: a test has looked at the run before, however slow the machine is. */
const rows = 400;
const slowly = ['--rate', '1/s'];

async function prepared() {
  const home = await newHome(rows, ['--unrecoverable', '0%', '--not-deleted', '0%']);
  await home.write('fails.csv', 'evaluation_id,user_id\n99999,u\n');
  await home.write('good.csv', 'soundboard_id,title\n1,Hello\n');
  return {
    ...home,
    /** Starts a run that goes on until it is stopped. */
    async going(id: string) {
      const run = home.start('run', 'rows.csv', '--yes', '--run-id', id, ...slowly);
      await calledSince(home, 1);
      return run;
    },
  };
}

test('without a name, a command takes the newest run that it applies to', async () => {
  const { run, json, going } = await prepared();
  expect(await run('run', 'fails.csv', '--yes', '--run-id', 'failed')).toMatchObject({ code: 1 });
  const stopped = await going('stopped');
  stopped.kill('SIGINT');
  expect(await stopped.end).toMatchObject({ code: 130 });
  expect(await run('run', 'good.csv', '--yes', '--run-id', 'good')).toMatchObject({ code: 0 });
  for (const [args, id] of [
    [['status'], 'good'],
    [['report'], 'good'],
    [['retry', '--yes', '--run-id', 'retried'], 'retried'],
  ] as const)
    expect(await json(...args)).toMatchObject({ run: id });
  expect(await json('status', 'retried')).toMatchObject({ retry_of: 'failed' });

  // What can be resumed is not given up unless it is named.
  expect(await run('cancel', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('error: No run in .cqbatch is in progress. The newest, retried of '),
  });
  expect(await json('resume', '--rate', 'none')).toMatchObject({ run: 'stopped', state: 'completed' });
});

test('the status of a completed run is shown although its journal is gone and another run is damaged', async () => {
  const { cwd, run, write } = await prepared();
  expect(await run('run', 'fails.csv', '--yes', '--run-id', 'failed')).toMatchObject({ code: 1 });
  expect(await run('run', 'good.csv', '--yes', '--run-id', 'good')).toMatchObject({ code: 0 });
  await rm(join(cwd, '.cqbatch/runs/good/journal.jsonl'));
  await write('.cqbatch/runs/failed/run.json', '{');
  expect(await run('status')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Run good completed\n(?:.*\n)*.*outcomes {2}1 succeeded/),
    stderr: expect.stringMatching(/^warning: .*runs\/failed\/run\.json/),
  });
});

test('cancel names the run on a terminal, and asks', async () => {
  const { json, going, options } = await prepared();
  const { end } = await going('slow');
  const answered = (answer: string) => cqbatchAtTerminal(['cancel'], options, ['[y/N]', `${answer}\n`]);
  const declined = await answered('n');
  expect(declined.stdout).toMatch(
    /^Run slow of rows\.csv on http:\S+ is running: \d+ of 400 rows done\.[^C]+Cancel run slow permanently\? \d+ rows will not be called\. \[y\/N\]/,
  );
  expect(declined).toMatchObject({ code: 2, stdout: expect.stringContaining('Run slow is unchanged.') });
  expect(await json('status')).toMatchObject({ state: 'running' });
  expect((await answered('y')).code).toBe(0);
  expect((await end).code).toBe(3);
});

test('without a name, status shows all runs in progress, and the run that another waits for', async () => {
  // The embedded datastore, on which a daemon does one run after the other.
  const home = await newHome(rows, ['--unrecoverable', '0%', '--not-deleted', '0%'], {});
  await home.write('good.csv', 'soundboard_id,title\n1,Hello\n');
  expect(await home.run('submit', 'rows.csv', '--yes', '--run-id', 'first', ...slowly)).toMatchObject({
    code: 0,
  });
  const daemon = await home.worker('--coordinate');
  await calledSince(home, 1);
  expect(await home.json('status')).toMatchObject({ run: 'first', state: 'running' });
  expect(await home.run('submit', 'good.csv', '--yes', '--run-id', 'second')).toMatchObject({ code: 0 });

  const waiting = 'until the daemon has finished first';
  expect(await home.json('status')).toMatchObject({
    runs: [
      { run: 'second', state: 'submitted', waiting },
      { run: 'first', state: 'running' },
    ],
  });
  expect(await home.json('status', 'second')).toMatchObject({ waiting });
  const { code, stdout } = await home.run('status');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Run second submitted {2}.*waiting until the daemon has finished first\nRun first running {2}/,
  );

  for (const id of ['second', 'first'])
    expect(await home.run('cancel', id, '--yes')).toMatchObject({ code: 0 });
  // The second is cancelled when its turn comes.
  await eventually(async () => (await home.stateOf('second')) === 'cancelled');
  await daemon.stop();
  expect(await home.json('status')).toMatchObject({ run: 'second', state: 'cancelled' });
});
