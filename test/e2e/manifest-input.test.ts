import { execFileSync } from 'node:child_process';
import { copyFile, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cqbatch } from '../helpers/cqbatch.ts';
import { readSummary } from '../helpers/run-folder.ts';
import { newHome } from './home.ts';

const manifest = 'evaluation_id,user_id\n1,u\n2,u\n3,u\n';

async function prepared() {
  const home = await newHome();
  execFileSync('mkfifo', [join(home.cwd, 'pipe')]);
  const left = async () => ({
    runs: await readdir(join(home.stateDir, 'runs')).catch(() => []),
    plans: (await readdir(home.stateDir).catch(() => [])).filter((name) => name.startsWith('plan-')),
  });
  return { ...home, left };
}

const waiting = 'Waiting for the manifest on the pipe pipe. Press Ctrl-C to cancel.';

test('rows of an export are selected by its own columns, and the others are counted', async () => {
  const { run, sandbox, write, ...home } = await prepared();
  const lines = [
    'Evaluation ID,action,Deleted by,deleted_at',
    '1,delete,u-17,2026-11-16T08:00:00Z',
    '2,delete,u-18,2026-11-16T09:00:00Z',
    // Of another kind: chosen, it would be invalid.
    'board 7,rename,u-17,2026-11-16T09:30:00Z',
    '3,delete,u-17,2026-11-15T23:59:59Z',
    '4,delete,u-17,2026-11-17T00:00:00Z',
  ];
  await write('audit.csv', `${lines.join('\n')}\n`);
  const conditions = ['deleted_by=u-17', 'deleted_at>=2026-11-16', 'action=delete'];
  const choice = [...conditions.flatMap((condition) => ['--where', condition]), '--user-id', 'lead'];

  // The first row is called; the second is left for what comes later.
  const first = await run('run', 'audit.csv', '--yes', '--run-id', 'r', '--max-rows', '1', ...choice);
  expect(first.code).toBe(6);
  expect(await run('resume', 'r')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('3 more rows left out by --where'),
  });
  expect((await sandbox.log()).map(({ id }) => id)).toEqual(['1', '4']);
  const report = await home.report('r');
  expect(report.map((row) => [row['Evaluation ID'], row['_row'], row['_outcome']])).toEqual([
    ['1', '1', 'succeeded'],
    ['4', '5', 'succeeded'],
  ]);
  expect(await readSummary(home.folder('r'))).toMatchObject({ manifest: { rows: 2, left_out: 3 } });
});

test('waiting for a pipe can be stopped, and leftovers of a killed command are removed by the next', async () => {
  const { cwd, options, start, run, write, left } = await prepared();
  const stopped = start('submit', 'pipe', '--yes', '--json');
  await stopped.says(waiting);
  stopped.kill('SIGTERM');
  expect(await stopped.end).toMatchObject({ code: 130, stdout: '{"state":"interrupted"}\n' });
  expect(await left()).toEqual({ runs: [], plans: [] });

  for (const [args, leaves] of [
    [['plan', 'pipe'], { runs: [], plans: [expect.any(String)] }],
    // It removes what the one before it has left.
    [['submit', 'pipe', '--yes', '--run-id', 'nightly'], { runs: ['nightly'], plans: [] }],
  ] as const) {
    const child = start(...args);
    await child.says(waiting);
    const writer = await open(join(cwd, 'pipe'), 'w');
    await writer.write(manifest);
    child.kill('SIGKILL');
    await child.end;
    await writer.close();
    expect(await left()).toEqual(leaves);
  }
  await write('rows.csv', manifest);
  const planned = await cqbatch(['plan', '-'], { ...options, input: manifest });
  const submitted = await run('submit', 'rows.csv', '--yes', '--run-id', 'nightly');
  expect([planned.code, submitted.code]).toEqual([0, 0]);
  expect(await left()).toEqual({ runs: ['nightly'], plans: [] });
});

test('a workbook is submitted from standard input, and run from its copy', async () => {
  const { cwd, options, sandbox } = await prepared();
  await copyFile('test/fixtures/workbooks/excel.xlsx', join(cwd, 'export.xlsx'));
  const shell = 'exec "$@" < export.xlsx';
  const submit = ['submit', '-', '--yes', '--run-id', 'book', '--sheet', 'Löschungen'];
  expect(await cqbatch(submit, { ...options, shell })).toMatchObject({ code: 0 });
  await cqbatch(['resume', 'book'], options);
  const called = (await sandbox.log()).map(({ id, user_id }) => `${id} ${user_id}`);
  expect(called.toSorted()).toEqual(['131 qa-lead', '9007199254740993 jörg']);
  const report = await readFile(join(cwd, '.cqbatch/runs/book/report.csv'), 'utf8');
  expect(report).toMatch(/^9007199254740993,jörg,2026-03-12,jörg!,TRUE,/m);
});
