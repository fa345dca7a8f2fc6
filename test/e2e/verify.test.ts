import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSummary } from '../helpers/run-folder.ts';
import { newHome } from './home.ts';

test('a run agrees in a copied folder with digests from elsewhere, until a file is edited', async () => {
  const { cwd, run, folder } = await newHome(20);
  await run('run', 'rows.csv', '--yes', '--run-id', 'one');
  const copy = join(cwd, 'copy');
  await cp(folder('one'), copy, { recursive: true });
  const digests = (await readSummary(copy))['digests'] as Readonly<Record<'report' | 'journal', string>>;
  const witness = ['--against', `sha256:${digests.report}`, digests.journal];
  expect(await run('verify', './copy', ...witness)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2 digests from elsewhere fit.'),
  });
  await writeFile(join(copy, 'report.csv'), 'edited');
  const { code, stdout } = await run('verify', 'copy', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ agrees: false });
});

test('a run that was killed and reported, resumed or retried agrees each time, but not a report that has results of retries', async () => {
  const flags = ['--unrecoverable', '20%', '--not-deleted', '0%', '--latency', '30ms'];
  const { run, start, sandbox } = await newHome(60, flags);
  const verified = async (id: string, code: number, told: string) =>
    expect(await run('verify', id)).toMatchObject({ code, stdout: expect.stringContaining(told) });
  const first = start('run', 'rows.csv', '--yes', '--run-id', 'one', '--rate', '60/s');
  await sandbox.requested(20);
  first.kill('SIGKILL');
  await first.end;
  await verified('one', 1, 'report.csv: is missing');
  await run('report', 'one');
  await verified('one', 0, 'interrupted');

  // The stop comes long before the last row, however slow the machine is.
  const second = start('resume', 'one', '--rate', '5/s');
  await sandbox.requested(30);
  second.kill('SIGTERM');
  await second.end;
  await verified('one', 0, 'interrupted');

  expect(await run('resume', 'one', '--rate', 'none')).toMatchObject({ code: 1 });
  await verified('one', 0, 'completed');

  await run('retry', 'one', '--yes', '--run-id', 'two');
  await verified('two', 0, 'completed');
  await run('report', 'one', '--with-retries', '--format', 'xlsx');
  await verified('one', 1, 'summary.json says that it has the results of retries, too');
  await run('report', 'one');
  await verified('one', 0, 'completed');
});
