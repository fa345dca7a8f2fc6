import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, startCqbatch } from '../helpers/cqbatch.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { restoreCsv } from './manifests.ts';

async function home(rows: number, ...sandboxArgs: string[]) {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  const sandbox = await startSandbox('--unrecoverable', '20%', '--not-deleted', '0%', ...sandboxArgs);
  const options = { cwd, env: { ...sandbox.env, ...anyDatastore() } };
  return {
    cwd,
    sandbox,
    folder: (id: string) => join(cwd, '.cqbatch', 'runs', id),
    run: (...args: string[]) => cqbatch(args, options),
    start: (...args: string[]) => startCqbatch(args, options),
  };
}

test('a run agrees here and in a copied folder, until a file is edited', async () => {
  const { cwd, run, folder } = await home(20);
  await run('run', 'rows.csv', '--yes', '--run-id', 'one');
  const copy = join(cwd, 'copy');
  await cp(folder('one'), copy, { recursive: true });
  const { digests } = JSON.parse(await readFile(join(copy, 'summary.json'), 'utf8'));
  const witness = ['--against', `sha256:${digests.report}`, digests.journal];
  expect(await run('verify', './copy', ...witness)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 digests from elsewhere fit.'),
  });

  const report = await readFile(join(copy, 'report.csv'), 'utf8');
  await writeFile(join(copy, 'report.csv'), report.replace(',failed,', ',succeeded,'));
  const { code, stdout } = await run('verify', 'copy', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    proved: false,
    problem: expect.stringMatching(
      /^report\.csv: differs in line \d+ from what rows\.jsonl and journal\.jsonl give/,
    ),
  });
});

test('a run that was killed and reported, resumed, retried or cancelled agrees each time', async () => {
  const { run, start, sandbox } = await home(60, '--latency', '30ms');
  const first = start('run', 'rows.csv', '--yes', '--run-id', 'one', '--rate', '60/s');
  await sandbox.requested(20);
  first.kill('SIGKILL');
  await finished(first);
  expect(await run('verify', 'one')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('report.csv: is missing'),
  });
  await run('report', 'one');
  expect(await run('verify', 'one')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('interrupted'),
  });

  const second = start('resume', 'one');
  await sandbox.requested(30);
  second.kill('SIGTERM');
  await finished(second);
  expect(await run('verify', 'one')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('interrupted'),
  });

  expect(await run('resume', 'one')).toMatchObject({ code: 1 });
  expect(await run('verify', 'one')).toMatchObject({ code: 0, stdout: expect.stringContaining('completed') });

  await run('retry', 'one', '--yes', '--run-id', 'two');
  expect(await run('verify', 'two')).toMatchObject({ code: 0 });
  await run('report', 'one', '--with-retries', '--format', 'xlsx');
  expect(await run('verify', 'one')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/has the results of the retries two, too, and was not compared/),
  });

  await run('run', 'rows.csv', '--yes', '--run-id', 'three', '--max-rows', '5');
  expect(await run('verify', 'three')).toMatchObject({ code: 0 });
  await run('cancel', 'three', '--yes');
  expect(await run('verify', 'three')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('cancelled'),
  });
});
