import { execFileSync } from 'node:child_process';
import { copyFile, open, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, saying, startCqbatch } from '../helpers/cqbatch.ts';
import { readCsv, readSummary } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const manifest = 'evaluation_id,user_id\n1,u\n2,u\n3,u\n';

async function prepared() {
  const cwd = await temporaryFolder();
  const sandbox = await startSandbox();
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const options = { cwd, env: { ...sandbox.env, ...anyDatastore() } };
  const left = async () => ({
    runs: await readdir(join(cwd, '.cqbatch', 'runs')).catch(() => []),
    plans: (await readdir(join(cwd, '.cqbatch')).catch(() => [])).filter((name) => name.startsWith('plan-')),
  });
  return { cwd, sandbox, options, left };
}

/** The list of problems of the only manifest that has one. */
async function problemsIn(cwd: string): Promise<string> {
  const folder = join(cwd, '.cqbatch', 'problems');
  const [name = '', ...others] = await readdir(folder);
  expect(others).toEqual([]);
  return readFile(join(folder, name), 'utf8');
}

const nothing = { runs: [], plans: [] };
const waiting = 'Waiting for the manifest on the pipe pipe. Press Ctrl-C to cancel.';

test('rows of an export are selected by its own columns, and the others are counted', async () => {
  const { cwd, options, sandbox } = await prepared();
  const run = (...args: string[]) => cqbatch(args, options);
  const lines = [
    'Evaluation ID,action,Deleted by,deleted_at',
    '1,delete,u-17,2026-11-16T08:00:00Z',
    '2,delete,u-18,2026-11-16T09:00:00Z',
    // Of another kind: chosen, it would be invalid.
    'board 7,rename,u-17,2026-11-16T09:30:00Z',
    '3,delete,u-17,2026-11-15T23:59:59Z',
    '4,delete,u-17,2026-11-17T00:00:00Z',
  ];
  await writeFile(join(cwd, 'audit.csv'), `${lines.join('\n')}\n`);
  const where = [
    '--where',
    'deleted_by=u-17',
    '--where',
    'deleted_at>=2026-11-16',
    '--where',
    'action=delete',
  ];
  const choice = [...where, '--user-id', 'lead'];

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
  const report = await readCsv(join(cwd, '.cqbatch/runs/r'), 'report.csv');
  expect(report.map((row) => [row['Evaluation ID'], row['_row'], row['_outcome']])).toEqual([
    ['1', '1', 'succeeded'],
    ['4', '5', 'succeeded'],
  ]);
  expect(await readSummary(join(cwd, '.cqbatch/runs/r'))).toMatchObject({
    manifest: { rows: 2, left_out: 3 },
  });
  expect((await run('show', 'r')).stdout).toContain('3 left out by --where');
});

test('waiting for a pipe can be stopped, and leftovers of a killed command are removed by the next', async () => {
  const { cwd, options, left } = await prepared();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    for (const args of [
      ['plan', 'pipe', '--json'],
      ['submit', 'pipe', '--yes', '--json'],
    ]) {
      const child = startCqbatch(args, options);
      const end = finished(child);
      await saying(child, waiting);
      child.kill(signal);
      const { code, stdout } = await end;
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
    const child = startCqbatch(args, options);
    await saying(child, waiting);
    const writer = await open(join(cwd, 'pipe'), 'w');
    await writer.write(manifest);
    child.kill('SIGKILL');
    await finished(child);
    await writer.close();
    expect(await left()).toEqual(leaves);
  }
  await writeFile(join(cwd, 'rows.csv'), manifest);
  const planned = await cqbatch(['plan', '-'], { ...options, input: manifest });
  const submitted = await cqbatch(['submit', 'rows.csv', '--yes', '--run-id', 'nightly'], options);
  expect([planned.code, submitted.code]).toEqual([0, 0]);
  expect(await left()).toEqual({ runs: ['nightly'], plans: [] });
});

/** What a command printed, on both streams. */
const said = ({ stdout, stderr }: { stdout: string; stderr: string }): string => stdout + stderr;

test('a plan groups equal problems and ends with its verdict; a file lists all problems', async () => {
  const { cwd, options } = await prepared();
  const broken = Array.from({ length: 40 }, () => '"1,23457E+18",u\n').join('');
  await writeFile(
    join(cwd, 'export.csv'),
    `Evaluation ID,user_id,note\n${broken.replaceAll('u\n', 'u,\n')}7,u,\nx,u,\n`,
  );
  const plan = await cqbatch(['plan', 'export.csv'], options);
  expect(plan.code).toBe(2);
  expect(plan.stdout).toContain(
    'Columns:\n  "Evaluation ID" → evaluation_id\n  user_id         → user_id\n  note            → kept for the report\n',
  );
  const ending = plan.stdout.slice(plan.stdout.indexOf('40 rows:'));
  expect(ending).toMatch(
    /^40 rows: Evaluation ID: is in scientific notation, .* \(lines 2-41; first: 1,23457E\+18\)\n/,
  );
  expect(ending.split('\n').slice(1)).toEqual([
    expect.stringMatching(/^export\.csv:43: Evaluation ID: must be a whole number .*\(x\)$/),
    expect.stringMatching(/^All problems, row by row: \.cqbatch\/problems\/export\.[0-9a-f]{8}\.csv\.txt$/),
    '',
    'Not ready: 41 rows of export.csv are invalid; fix them or pass --skip-invalid.',
    '',
  ]);
  const all = await problemsIn(cwd);
  expect(all.trimEnd().split('\n')).toHaveLength(41);

  const ready = await cqbatch(['plan', 'export.csv', '--skip-invalid'], options);
  expect(ready).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\nReady: 1 call, 41 invalid rows left out\.\n$/),
  });
  const document = JSON.parse((await cqbatch(['plan', 'export.csv', '--json'], options)).stdout);
  expect(document).toMatchObject({
    ready: false,
    fields: { 'Evaluation ID': 'evaluation_id', user_id: 'user_id', note: null },
    problems: { count: 41, groups: [{ column: 'Evaluation ID', rows: 40, lines: [[2, 41]] }, { rows: 1 }] },
  });
  const run = await cqbatch(['run', 'export.csv', '--yes'], options);
  expect(run).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /error: Not ready: 41 rows of export\.csv are invalid; .* Nothing was sent\.\n$/,
    ),
  });
});

test('a file saved by a German Excel can be run by following the messages', async () => {
  const { cwd, options, sandbox } = await prepared();
  const lines = [
    'sep=;',
    'Löschungen vom 12.03.2026',
    'Bewertungs-ID;Benutzer;Grund',
    '1; jörg ;für Prüfung',
    '2;u;',
    '',
  ];
  await writeFile(join(cwd, 'export.csv'), Buffer.from(lines.join('\r\n'), 'latin1'));
  const given = ['--operation', 'restore-evaluation', '--map', 'Benutzer=user_id'];
  const tried = async () => said(await cqbatch(['plan', 'export.csv', ...given], options));

  expect(await tried()).toContain(
    'export.csv:2:1: the column names seem to be on line 3, below a title; pass --skip-lines 1',
  );
  given.push('--skip-lines', '1');
  expect(await tried()).toMatch(
    /^error: export\.csv:2:2: byte 0xF6 .* or pass its encoding, such as --encoding windows-1252\n$/,
  );
  given.push('--encoding', 'windows-1252');
  const almost = await tried();
  expect(almost).toContain(
    '2 rows: evaluation_id: missing; every row needs the column evaluation_id (lines 4-5)',
  );
  expect(almost).toContain('if it is "Bewertungs-ID", pass --map "Bewertungs-ID=evaluation_id"');
  given.push('--map', 'Bewertungs-ID=evaluation_id');
  const plan = await cqbatch(['plan', 'export.csv', ...given], options);
  expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining('Ready: 2 calls.') });

  const next = plan.stderr.trim().split('\n').at(-1)?.replace('Nothing was sent. Next: cqbatch ', '') ?? '';
  const shell = `exec "$@" ${next} --yes --run-id german`;
  expect(await cqbatch([], { ...options, shell })).toMatchObject({ code: 0 });
  const called = (await sandbox.log()).map(({ id, user_id }) => `${id} ${user_id}`);
  expect(called.toSorted()).toEqual(['1 jörg', '2 u']);
  const report = await cqbatch(['report', 'german'], options);
  expect(report.code).toBe(0);
  expect(await readFile(join(cwd, '.cqbatch/runs/german/report.csv'), 'utf8')).toContain('für Prüfung');
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
