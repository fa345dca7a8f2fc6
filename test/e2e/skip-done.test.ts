import { expect, test } from 'vitest';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { newHome } from './home.ts';

const header = 'evaluation_id,user_id\n';
/** The sandbox refuses to restore evaluation 50. */
const text = `${header}1,u\n2,u\n50,u\n2,u\n`;

const idsOf = (log: readonly { readonly id: string | null }[]) => log.map(({ id }) => id);

const boards = 'soundboard_id,title,old_title\n41,a,Recording 41\n42,b,Recording 42\n43,c,\n';
const done = async (run: (...args: string[]) => Promise<{ readonly stdout: string }>, of: string) => {
  const { stdout } = await run('plan', 'boards.csv', '--skip-done', of, '--json');
  return JSON.parse(stdout).done_before;
};

test('rows that were done and undone are called again, even through a chain of runs, but not when the undo was undone', async () => {
  const { run, write } = await newHome(text);
  await write('boards.csv', boards);
  await run('run', 'boards.csv', '--yes', '--run-id', 'first');
  // All of its rows were left out.
  await run('run', 'boards.csv', '--yes', '--run-id', 'second', '--skip-done', 'first', '--allow-empty');
  expect([await done(run, 'first'), await done(run, 'second')]).toEqual([3, 3]);
  await run('undo', 'first', '--yes', '--run-id', 'back');
  // The old value of the third row is unknown: the entry stays as the run made it.
  expect([await done(run, 'first'), await done(run, 'second')]).toEqual([1, 1]);
  await run('undo', 'back', '--yes', '--run-id', 'forth');
  expect([await done(run, 'first'), await done(run, 'second')]).toEqual([3, 3]);
});

test('rows that were done in a run are left out, counted and named', async () => {
  const { cwd, sandbox, run, write } = await newHome(text);
  expect((await run('run', 'rows.csv', '--yes', '--run-id', 'monday')).code).toBe(1);
  await write('more.csv', `${text}3,u\n`);
  const again = ['--yes', '--skip-done', 'mond', '--run-id', 'tuesday'];
  expect((await run('run', 'more.csv', ...again)).code).toBe(1);
  const ids = idsOf(await sandbox.log()).slice(3);
  expect(ids.toSorted()).toEqual(['3', '50']);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report.map(({ _outcome, _code }) => `${_outcome} ${_code}`)).toEqual([
    'skipped DONE_BEFORE',
    'skipped DONE_BEFORE',
    'failed FAILED_PRECONDITION',
    'skipped DONE_BEFORE',
    'succeeded OK',
  ]);
  expect(report[0]?.['_message']).toBe('done before, in row 1 of monday');

  // What was left out there is done, too.
  const { code, stdout } = await run('run', 'more.csv', '--yes', '--skip-done', 'tuesday');
  expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('4 skipped') });
  expect(idsOf(await sandbox.log()).slice(5)).toEqual(['50']);
});

test('rows that were done before, but can’t be identified, are reported, and nothing is sent', async () => {
  const { run, start, sandbox, write } = await newHome(text, ['--latency', '200ms']);
  const other = await startSandbox();
  const manyRows = Array.from({ length: 200 }, (_, n) => `${n + 100},u\n`).join('');
  await write('many.csv', header + manyRows);
  const going = start('run', 'many.csv', '--yes', '--run-id', 'going', '--rate', '1/s');
  await going.says('Run going');
  const cases: readonly [args: readonly string[], code: number, text: string][] = [
    [['--skip-done', 'nope'], 2, 'no run in .cqbatch and no file has this name'],
    [['--skip-done', 'going'], 5, 'Run going is still in progress'],
    [['--skip-done', 'going', '--base-url', other.url], 2, `that run called ${sandbox.url}`],
  ];
  for (const [args, code, said] of cases) {
    const ended = await run('plan', 'rows.csv', ...args);
    expect({ args, ...ended }).toMatchObject({ code, stderr: expect.stringContaining(said) });
  }
  expect(await other.log()).toEqual([]);
});

test('a manifest that was run before is reported with time, run, result, and the option that leaves out done rows', async () => {
  const { run } = await newHome(text);
  expect((await run('run', 'rows.csv', '--yes', '--run-id', 'monday')).stderr).not.toContain('ran before');
  const said =
    /^warning: this manifest ran before as monday \((?:\d+ \w+ )?[\d:]+ UTC, completed, 4 rows, 2 succeeded, 1 failed, 1 duplicate\); to leave out its completed rows: (--skip-done monday)$/m;
  const plan = await run('plan', 'rows.csv');
  const offered = said.exec(plan.stdout)?.[1]?.split(' ') ?? [];
  expect(offered).toHaveLength(2);
  expect((await run('run', 'rows.csv', '--yes', '--run-id', 'tuesday')).stderr).toMatch(said);
  expect((await run('plan', 'rows.csv', ...offered)).stdout).not.toContain('ran before');
});
