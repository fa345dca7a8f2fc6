import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';

const rows = 200;

/** A run that was killed after some requests. @param results the least number of results in its journal at the kill */
async function killed(requests: number, results: number, ...flags: string[]) {
  const home = await newHome(rows, ['--unrecoverable', '0%', '--not-deleted', '0%'], {});
  const journal = join(home.folder('r'), 'journal.jsonl');
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', '--rate', '100/s', ...flags);
  await home.sandbox.requested(requests);
  const held = home.sandbox.hold();
  await expect
    .poll(async () => (await readFile(journal, 'utf8')).match(/^\{"row":/gm)?.length)
    .toBeGreaterThanOrEqual(results);
  run.kill('SIGKILL');
  await run.end;
  held.release();
  return { ...home, journal };
}

test('a started run does not continue without its journal, whatever else is left', async () => {
  // The other run takes from the datastore what the journal does not have. Without any result, the refusals of rows that are done could be
  // those of a router.
  const { sandbox, run, journal, ...home } = await killed(80, 1);
  const whole = await readFile(journal);
  const before = (await sandbox.log()).length;
  await appendFile(journal, `{"fed":[${rows},${rows + 1}],"batch":"b"}\n`);
  const damaged = await readFile(journal);
  const stderr = expect.stringContaining(`there is no row ${rows + 1}: rows.jsonl has ${rows}`);
  for (const command of ['resume', 'report']) expect(await run(command)).toMatchObject({ code: 4, stderr });
  expect(Buffer.compare(await readFile(journal), damaged)).toBe(0);
  expect(await run('list')).toMatchObject({ code: 0, stderr });
  expect(await sandbox.log()).toHaveLength(before);

  // Another run does not need that journal.
  await home.write('other.csv', 'soundboard_id,title\n1,Hello\n');
  expect(await run('run', 'other.csv', '--yes', '--run-id', 'other')).toMatchObject({ code: 0 });

  await writeFile(journal, whole);
  expect(await run('resume', '--rate', 'none')).toMatchObject({ code: 0 });
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  const log = (await sandbox.log()).filter(({ operation }) => operation === 'restore-evaluation');
  expectAgreement(report, log, { killed: true });
});

test('a journal that lost its last lines in a power failure gets them again from the datastore', async () => {
  const concurrency = 4;
  const ofWorker = ['--concurrency', String(concurrency)];
  const { sandbox, run, journal, ...home } = await killed(120, 120 - concurrency, ...ofWorker);
  const whole = await readFile(journal, 'utf8');
  const lines = whole.split(/(?<=\n)/);
  // Half a line remains of what was written last.
  const kept = lines.slice(0, -60).join('');
  const torn = (lines.at(-60) ?? '').slice(0, 20);
  expect(kept).toContain('"row":');
  await writeFile(journal, kept + torn);

  expect((await run('resume', '--rate', 'none')).code).toBe(0);
  const report = await home.report('r');
  expectEveryRowOnce(report, rows);
  const log = await sandbox.log();
  expectAgreement(report, log, { killed: true });
  // Called twice, or marked, are only rows whose call the kill cut off: two for each place of the worker at most.
  expect(log.length - rows).toBeLessThanOrEqual(2 * concurrency);
  expect(report.filter((row) => row['_unclear'] === 'yes').length).toBeLessThanOrEqual(2 * concurrency);
});
