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

const nothing = { runs: [], plans: [] };
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

  const plan = await run('plan', 'audit.csv', ...choice);
  expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining('2 rows, CSV') });
  expect(plan.stdout).toContain('  3 rows left out by --where\n');
  expect(await run('plan', 'audit.csv', '--where', 'who=u-17', ...choice)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      '--where "who=u-17": audit.csv has no column "who"; it has "Evaluation ID", "action"',
    ),
  });

  // The first row is called; the second is left for what comes later.
  expect((await run('run', 'audit.csv', '--yes', '--run-id', 'r', '--max-rows', '1', ...choice)).code).toBe(
    6,
  );
  const resumed = await run('resume', 'r');
  expect(resumed).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('3 more rows left out by --where'),
  });
  expect((await sandbox.log()).map(({ id }) => id)).toEqual(['1', '4']);
  const report = await home.report('r');
  expect(report.map((row) => [row['Evaluation ID'], row['_row'], row['_outcome']])).toEqual([
    ['1', '1', 'succeeded'],
    ['4', '5', 'succeeded'],
  ]);
  expect(await readSummary(home.folder('r'))).toMatchObject({
    manifest: { rows: 2, left_out: 3 },
  });
  expect((await run('show', 'r')).stdout).toContain('3 left out by --where');
});

test('waiting for a pipe can be stopped, and leftovers of a killed command are removed by the next', async () => {
  const { cwd, options, start, run, write, left } = await prepared();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    for (const args of [
      ['plan', 'pipe', '--json'],
      ['submit', 'pipe', '--yes', '--json'],
    ]) {
      const child = start(...args);
      await child.says(waiting);
      child.kill(signal);
      const { code, stdout } = await child.end;
      expect({ code, document: JSON.parse(stdout) }).toEqual({
        code: 130,
        document: { state: 'interrupted' },
      });
      expect(await left()).toEqual(nothing);
    }
  }

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

/** What a command printed, on both streams. */
const said = ({ stdout, stderr }: { stdout: string; stderr: string }): string => stdout + stderr;

test('a plan groups equal problems, and a file lists all of them', async () => {
  const { cwd, json, write } = await newHome();
  const broken = '"1,23457E+18",u,\n'.repeat(40);
  await write('export.csv', `Evaluation ID,user_id,note\n${broken}7,u,\nx,u,\n`);
  const plan = await json<{ problems: { file: string } }>('plan', 'export.csv');
  expect(plan).toMatchObject({
    ready: false,
    fields: { 'Evaluation ID': 'evaluation_id', user_id: 'user_id', note: null },
    problems: { count: 41, groups: [{ column: 'Evaluation ID', rows: 40, lines: [[2, 41]] }, { rows: 1 }] },
  });
  const all = await readFile(join(cwd, plan.problems.file), 'utf8');
  expect(all.trimEnd().split('\n')).toHaveLength(41);
});

test('a workbook is planned, run from standard input, stopped, and resumed from its copy', async () => {
  const { cwd, options, sandbox } = await prepared();
  await copyFile('test/fixtures/workbooks/excel.xlsx', join(cwd, 'export.xlsx'));
  const plan = await cqbatch(['plan', 'export.xlsx'], options);
  expect(plan).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 rows, XLSX, sheet "Löschungen" of 2'),
  });
  const shell = 'exec "$@" < export.xlsx';
  const run = await cqbatch(['submit', '-', '--yes', '--run-id', 'book', '--sheet', 'Löschungen'], {
    ...options,
    shell,
  });
  expect(run.code).toBe(0);
  const resumed = await cqbatch(['resume', 'book'], options);
  const called = (await sandbox.log()).map(({ id, user_id }) => `${id} ${user_id}`);
  expect(called.toSorted()).toEqual(['131 qa-lead', '9007199254740993 jörg']);
  expect(said(resumed)).toContain('2 rows');
  const report = await readFile(join(cwd, '.cqbatch/runs/book/report.csv'), 'utf8');
  expect(report).toMatch(/^9007199254740993,jörg,2026-03-12,jörg!,TRUE,/m);
});
