import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callsByRow, expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { type Home, newHome } from './home.ts';

const rows = 300;
const concurrency = 10;
const slowly = ['--rate', '100/s', '--concurrency', String(concurrency)];

/** @param leastTwice rows that were called before without a trace. */
async function expectExactness({ report: read, sandbox }: Home, leastTwice: number): Promise<void> {
  const report = await read('r');
  const log = await sandbox.log();
  expectEveryRowOnce(report, rows);
  expectAgreement(report, log, { killed: true });
  const calls = callsByRow(log);
  const twice = report.filter(
    (row) => (calls.get(`restore-evaluation ${row['evaluation_id']}`)?.length ?? 0) > 1,
  );
  expect(twice.length).toBeGreaterThanOrEqual(leastTwice);
  expect(twice.filter((row) => row['_unclear'] !== 'yes')).toEqual([]);
  expect(report.filter((row) => row['_outcome'] !== 'succeeded')).toEqual([]);
}

test('after kill -9, every row that is called twice is marked, also when the queue is damaged, and moved aside as resume advises', async () => {
  const flags = ['--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '20ms'];
  const home = await newHome(rows, flags, {});
  const queue = join(home.stateDir, 'queue');
  const run = home.start('run', 'rows.csv', '--yes', '--run-id', 'r', ...slowly);
  await home.sandbox.requested(60);
  // No journal can have the results of the last calls.
  home.sandbox.configure({ latency: '1h' });
  await home.sandbox.requested(60 + concurrency);
  run.kill('SIGKILL');
  await run.end;
  home.sandbox.configure({ latency: '20ms' });
  await rm(join(queue, 'PG_VERSION'));
  const files = await readdir(queue);
  const resume = () => home.run('resume', '--rate', 'none');
  const refused = await resume();
  expect(refused.code).toBe(4);
  expect(refused.stderr).toMatch(/PG_VERSION is missing\. Move the folder away, then type "cqbatch resume"/);
  // No command made another database of it.
  expect(await readdir(queue)).toEqual(files);
  await rename(queue, `${queue}.damaged`);
  expect((await resume()).code).toBe(0);
  await expectExactness(home, concurrency);
});
