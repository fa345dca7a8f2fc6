import { expect, test } from 'vitest';
import { cqbatch, cqbatchAtTerminal } from '../helpers/cqbatch.ts';
import { newHome } from './home.ts';

test('prune removes all but the newest runs, and --dry-run lists them first', async () => {
  const { cwd, run, json, options } = await newHome('soundboard_id,title\n1,Hello\n');
  for (const id of ['one', 'two', 'three'])
    expect(await run('run', 'rows.csv', '--yes', '--run-id', id)).toMatchObject({ code: 0 });

  expect(await run('prune')).toMatchObject({ code: 2, stderr: expect.stringContaining('--keep-last 30') });
  const dry = await run('prune', '--keep-last', '1', '--dry-run');
  expect(dry.stdout).toMatch(/^2 runs would be removed \(\d.*B\), 1 kept\n$/);
  expect(dry.stderr).toMatch(/one +completed.*\n.*two +completed/);
  const asked = ['prune', '--keep-last', '2'];
  expect(await cqbatchAtTerminal(asked, options, ['[y/N]', 'n\n'])).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/Remove 1 run with all files\? \[y\/N\][\s\S]*Nothing was removed\./),
  });
  expect(await run('status', 'one')).toMatchObject({ code: 0 });
  expect(await json('prune', '--keep-last', '1', '--yes')).toMatchObject({
    removed: ['one', 'two'],
    kept: 1,
    dry_run: false,
  });
  // A shared datastore remembers runs for a day.
  const { stdout } = await cqbatch(['list', '--json'], { cwd });
  const { runs } = JSON.parse(stdout) as { runs: { run: string }[] };
  expect(runs.map((one) => one.run)).toEqual(['three']);
});

test('without a terminal, no command takes anything away until --yes says so', async () => {
  const { run, json } = await newHome('soundboard_id,title\n1,Hello\n2,Hello\n');
  await run('schedule', 'add', 'nightly', '--cron', '0 2 * * *', '--manifest', 'rows.csv');
  await run('run', 'rows.csv', '--yes', '--run-id', 'done');
  await run('run', 'rows.csv', '--yes', '--run-id', 'stopped', '--max-rows', '1');
  for (const taking of [
    ['prune', '--keep-last', '0'],
    ['schedule', 'remove', 'nightly'],
    ['cancel', 'stopped'],
  ]) {
    const why = 'because standard input and standard error are not terminals: pass --yes if you want it';
    expect(await run(...taking)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  }
  expect(await run('schedule', 'show', 'nightly')).toMatchObject({ code: 0 });
  expect(await json('list')).toMatchObject({
    runs: [{ run: 'stopped', state: 'interrupted' }, { run: 'done' }],
  });
});
