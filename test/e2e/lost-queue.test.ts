import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CommandOptions, cqbatch, type Finished, finished, startCqbatch } from '../helpers/cqbatch.ts';
import { newestRunFolder, readCsv } from '../helpers/run-folder.ts';
import { startSandbox, type TestSandbox } from '../helpers/sandbox.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { callsByRow, expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { restoreCsv } from './manifests.ts';

const rows = 300;
const slowly = ['--rate', '100/s', '--concurrency', '10'];

interface Scene {
  readonly cwd: string;
  readonly queue: string;
  readonly sandbox: TestSandbox;
  readonly options: CommandOptions;
}

async function prepared(): Promise<Scene> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  const sandbox = await startSandbox('--unrecoverable', '0%', '--not-deleted', '0%', '--latency', '20ms');
  return { cwd, queue: join(cwd, '.cqbatch', 'queue'), sandbox, options: { cwd, env: sandbox.env } };
}

/** Starts a run, and kills it after a number of requests. */
async function kill({ sandbox, options }: Scene, requests: number): Promise<void> {
  const child = startCqbatch(['run', 'rows.csv', '--yes', ...slowly], options);
  const end = finished(child);
  await sandbox.requested(requests);
  child.kill('SIGKILL');
  await end;
}

function resume({ options }: Scene): Promise<Finished> {
  return cqbatch(['resume', '--rate', 'none'], options);
}

/** @param leastTwice rows that were called before without a trace. */
async function expectExactness({ cwd, sandbox }: Scene, leastTwice: number): Promise<void> {
  const report = await readCsv(await newestRunFolder(cwd), 'report.csv');
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

describe('after kill -9, every row that is called twice is marked', () => {
  test('when the queue is damaged, and moved aside as resume advises', async () => {
    const scene = await prepared();
    await kill(scene, 60);
    await rm(join(scene.queue, 'PG_VERSION'));
    const files = await readdir(scene.queue);
    const refused = await resume(scene);
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(
      /PG_VERSION is missing\. Move the folder away, then type "cqbatch resume"/,
    );
    // No command made another database of it.
    expect(await readdir(scene.queue)).toEqual(files);
    await rename(scene.queue, `${scene.queue}.damaged`);
    expect((await resume(scene)).code).toBe(0);
    await expectExactness(scene, 5);
  });
});
