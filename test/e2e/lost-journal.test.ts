import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, finished, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { startSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

const rows = 200;

test('a started run does not continue without its journal, whatever else is left', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%');
  const options = { cwd, env: { ...sandbox.env, ...anyDatastore() } };
  const child = startCqbatch(['run', 'rows.csv', '--yes', '--rate', '100/s'], options);
  const end = finished(child);
  await sandbox.requested(80);
  child.kill('SIGKILL');
  await end;

  const journal = join(await newestRunFolder(cwd), 'journal.jsonl');
  const whole = await readFile(journal);
  const before = (await sandbox.log()).length;
  await appendFile(journal, `{"fed":[${rows},${rows + 1}]}\n`);
  const damaged = await readFile(journal);
  for (const command of ['resume', 'status', 'report']) {
    const { code, stderr } = await cqbatch([command], options);
    expect(stderr, command).toContain(`there is no row ${rows + 1}: rows.jsonl has ${rows}`);
    expect(code, command).toBe(4);
  }
  expect(Buffer.compare(await readFile(journal), damaged)).toBe(0);
  const listed = await cqbatch(['list'], options);
  expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining(`there is no row ${rows + 1}`) });
  expect(listed.stdout).toMatch(/interrupted +\S+ [A-Z]\S* +\? +\?\/200 +\? +\S+ +rows\.csv/);
  expect(await sandbox.log()).toHaveLength(before);

  await writeFile(journal, whole);
  expect((await cqbatch(['resume', '--rate', 'none'], options)).code).toBe(0);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expectEveryRowOnce(report, rows);
  expectAgreement(report, await sandbox.log(), { killed: true });
});

test('a journal that lost its last lines in a power failure gets them again from the datastore', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%');
  const options = { cwd, env: { ...sandbox.env, ...anyDatastore() } };
  const concurrency = 4;
  const child = startCqbatch(
    ['run', 'rows.csv', '--yes', '--rate', '100/s', '--concurrency', String(concurrency)],
    options,
  );
  const end = finished(child);
  await sandbox.requested(120);
  child.kill('SIGKILL');
  await end;

  const journal = join(await newestRunFolder(cwd), 'journal.jsonl');
  const whole = await readFile(journal, 'utf8');
  const lines = whole.split(/(?<=\n)/);
  // Half a line remains of what was written last.
  const kept = lines.slice(0, -60).join('');
  const torn = (lines.at(-60) ?? '').slice(0, 20);
  expect(kept).toContain('"row":');
  await writeFile(journal, kept + torn);

  expect((await cqbatch(['resume', '--rate', 'none'], options)).code).toBe(0);
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
  expectEveryRowOnce(report, rows);
  const log = await sandbox.log();
  expectAgreement(report, log, { killed: true });
  // Called twice, or marked, are only rows whose call the kill cut off: two for each place of the worker at most.
  expect(log.length - rows).toBeLessThanOrEqual(2 * concurrency);
  expect(report.filter((row) => row['_unclear'] === 'yes').length).toBeLessThanOrEqual(2 * concurrency);
});
