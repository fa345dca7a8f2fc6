import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { editsCsv, expectInOrder } from './edits.ts';
import { newHome } from './home.ts';
import { aMoment } from './redis/kill-matrix.ts';

const titles = (log: readonly { readonly body?: string }[]) =>
  log.map(({ body = '' }) => JSON.parse(body).soundboard.title as string);

const text = 'soundboard_id,title\n41,x\n41,y\n42,z\nnone,z\n41,x\n';

test('rows that change one entry in different ways are refused, or called once with --on-conflict last: the last one', async () => {
  const { cwd, run, sandbox } = await newHome(text);
  const args = ['run', 'rows.csv', '--yes', '--skip-invalid'];
  expect(await run(...args)).toMatchObject({ code: 2 });
  expect(await sandbox.log()).toEqual([]);
  expect(await run(...args, '--on-conflict', 'last')).toMatchObject({ code: 1 });
  expect(titles(await sandbox.log()).toSorted()).toEqual(['x', 'z']);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report.map(({ _outcome, _code }) => `${_outcome} ${_code}`)).toEqual([
    'skipped SUPERSEDED',
    'skipped SUPERSEDED',
    'succeeded OK',
    'invalid INVALID_ROW',
    'succeeded OK',
  ]);
});

test('rows that change one entry in different ways are called one after the other with --on-conflict in-order, even as a setting', async () => {
  const { cwd, run, sandbox } = await newHome(text, ['--latency', '50ms']);
  await mkdir(join(cwd, '.cqbatch'), { mode: 0o700 });
  await writeFile(join(cwd, '.cqbatch', 'config.json'), '{"on_conflict":"in-order"}');
  expect((await run('run', 'rows.csv', '--skip-invalid', '--yes')).code).toBe(1);
  const log = await sandbox.log();
  expect(titles(log.filter(({ id }) => id === '41'))).toEqual(['x', 'y', 'x']);
  expect(log).toHaveLength(4);
});

const faults = 'reset=3%,503=3%,502-after-commit=3%,reset-after-commit=2%';
const rate = ['--rate', '150/s'];

test('edits in order stay in order when the process is killed three times', async () => {
  const edits = editsCsv(40, 10);
  // What a killed process leaves behind is the datastore's: on Redis, see redis/in-order.test.ts.
  const { cwd, sandbox, start, run } = await newHome(edits.text, ['--latency', '60ms', '--fault', faults], {
    CQBATCH_BACKOFF: '20ms',
  });
  for (let kill = 0; kill < 3; kill += 1) {
    const args = kill === 0 ? ['run', 'rows.csv', '--yes', '--on-conflict', 'in-order'] : ['resume'];
    const child = start(...args, ...rate);
    await child.says('Run 20');
    await aMoment({ sandbox }, 80);
    child.kill('SIGKILL');
    await child.end;
  }
  expect((await run('resume', ...rate)).code).toBe(0);
  expectInOrder(edits, await sandbox.log());
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expect(report.map(({ _outcome }) => _outcome)).toEqual(Array(edits.rows).fill('succeeded'));
});

test('edits in order are retried in order', async () => {
  const edits = editsCsv(5, 4);
  const { cwd, sandbox, run } = await newHome(edits.text, ['--latency', '60ms', '--soundboards', '0']);
  expect((await run('run', 'rows.csv', '--yes', '--on-conflict', 'in-order')).code).toBe(1);
  expect((await run('retry', '--yes')).code).toBe(1);
  const record = JSON.parse(await readFile(join(await newestRunFolder(cwd), 'run.json'), 'utf8'));
  expect(record.options.onConflict).toBe('in-order');
  const log = await sandbox.log();
  expect(log).toHaveLength(2 * edits.rows);
  expectInOrder(edits, log.slice(0, edits.rows));
  expectInOrder(edits, log.slice(edits.rows));
});
