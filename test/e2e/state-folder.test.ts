import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anyDatastore } from '../helpers/any-datastore.ts';
import { cqbatch, type Finished } from '../helpers/cqbatch.ts';
import { describeOnPosix } from '../helpers/describe-with-program.ts';
import { readCsv } from '../helpers/run-folder.ts';
import { describeWithSmallDisk, smallDisk } from '../helpers/small-disk.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

/** Of fifty evaluations of the sandbox the last one can not be restored. */
const rows = 45;
const noServer = { CQBATCH_BASE_URL: 'http://127.0.0.1:9', CQBATCH_TOKEN: 'x' };
const run = ['run', 'rows.csv', '--yes', '--run-id', 'r'];

async function newFolder(): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'rows.csv'), restoreCsv(rows).text);
  return cwd;
}

/** One sentence, and no claim that can't be known. */
function expectSentence({ stderr }: Finished, message: string | RegExp): void {
  expect(stderr).toMatch(message instanceof RegExp ? message : new RegExp(`^error: .*${message}`, 'm'));
  expect(stderr).not.toMatch(/Unexpected error|^ {4}at |nothing is lost/m);
}

describeOnPosix('an impossible state folder', () => {
  test.each(['queue', 'runs'])('is refused when %s in it is a dangling link', async (name) => {
    const options = { cwd: await newFolder(), env: noServer };
    await mkdir(join(options.cwd, '.cqbatch'));
    await symlink('/nothing', join(options.cwd, '.cqbatch', name));
    const end = await cqbatch(run, options);
    expectSentence(end, `${name} is a symbolic link to a folder that doesn't exist: mount or create that`);
    expect(end.code).toBe(4);
  });

  test('may be written with a slash, or be a link to a folder', async () => {
    const { cwd, run: type } = await newHome(rows, ['--evaluations', '100']);
    await mkdir(join(cwd, 'real'));
    await symlink('real', join(cwd, 'link'));
    const end = await type(...run, '--state-dir', 'link/');
    expect({ code: end.code, stderr: end.stderr }).toMatchObject({ code: 0 });
    expectEveryRowOnce(await readCsv(join(cwd, 'real', 'runs', 'r'), 'report.csv'), rows);
  });
});

describeOnPosix('too few files that may be open', () => {
  test('are reported', async () => {
    const shell = 'ulimit -n 24; exec "$@"';
    const end = await cqbatch(run, { cwd: await newFolder(), env: noServer, shell });
    expectSentence(end, 'this process has reached its limit of open files: raise the limit');
    expect(end.code).toBe(4);
  });
});

describeOnPosix('too few addresses of memory', () => {
  test('are reported, and not a damaged datastore', async () => {
    const shell = 'ulimit -v 6000000; exec "$@"';
    const end = await cqbatch(run, { cwd: await newFolder(), env: noServer, shell });
    expectSentence(
      end,
      /this process has reached its limit of memory: raise the limit \("ulimit -v unlimited"/,
    );
    expect(end.code).toBe(4);
  });
});

describeWithSmallDisk('a disk that can only be read', () => {
  test('can be read, and each failed write is reported', async () => {
    const disk = smallDisk(100);
    const env = { ...anyDatastore(), CQBATCH_STATE_DIR: join(disk.folder, 'state') };
    const home = await newHome(rows, ['--evaluations', '100'], env);
    expect(await home.run(...run)).toMatchObject({ code: 0 });
    disk.readOnly(true);
    for (const args of [
      ['run', 'rows.csv', '--yes'],
      ['report', 'r'],
    ]) {
      const end = await home.run(...args);
      expectSentence(end, /^error: \S+ is on a read-only disk: make the disk writable or choose another/m);
      expect(end.code).toBe(4);
    }
    expect(await home.run('status', 'r')).toMatchObject({ code: 0, stderr: '' });
  });
});

describeOnPosix('a file removed during a run', () => {
  /** All rows take most of a minute: the loss is noticed before, however slow the machine is. */
  const slowly = '1/s';

  /** Starts a run, does something to its files as soon as it is going, and waits for its end. */
  async function damaged(
    harm: (state: string) => Promise<unknown>,
    datastore = anyDatastore(),
    rate = slowly,
  ) {
    const { cwd, sandbox, options, start } = await newHome(rows, ['--evaluations', '100'], datastore);
    const child = start(...run, '--rate', rate, '--concurrency', '2');
    // Its rows are being read and called.
    await sandbox.requested(1);
    await harm(join(cwd, '.cqbatch'));
    const before = (await sandbox.log()).length;
    const end = await child.end;
    return { cwd, options, end, callsAfter: (await sandbox.log()).length - before };
  }
  const lost =
    /^Run r stopped because its folder was changed\. Restore the folder; otherwise the results of .* are lost\.$/m;

  test('ends the run, which names the file', async () => {
    const ends = await Promise.all([
      // The run writes into it at the same time.
      damaged((state) => rm(state, { recursive: true, maxRetries: 20 })),
      damaged((state) => rm(join(state, 'runs', 'r'), { recursive: true, maxRetries: 20 })),
      damaged((state) => rm(join(state, 'runs', 'r', 'journal.jsonl'))),
    ]);
    for (const { end, callsAfter } of ends) {
      expectSentence(end, lost);
      expectSentence(end, /^error: .*(was removed|is not there)/m);
      expect(end.code).toBe(4);
      expect(callsAfter).toBeLessThanOrEqual(rows / 2);
    }
  });

  test('does no harm when it holds no results: the queue, its lock', async () => {
    const ends = await Promise.all([
      damaged((state) => rm(join(state, 'queue'), { recursive: true }), {}),
      damaged((state) => rm(join(state, 'queue.lock'), { recursive: true }), {}),
    ]);
    for (const { end, options } of ends) {
      expectSentence(end, /^Run r stopped\. Its journal has the results of \d+ of 45 rows/m);
      expectSentence(end, /^error: .*, then cqbatch resume r$/m);
      expect(end.code).toBe(4);
      expect(await cqbatch(['resume', 'r', '--rate', 'none'], options)).toMatchObject({ code: 0 });
      expectEveryRowOnce(await readCsv(join(options.cwd, '.cqbatch', 'runs', 'r'), 'report.csv'), rows);
    }
  });

  test('costs the report only, when it is the file of rows', async () => {
    const { cwd, options, end } = await damaged(
      (state) => rename(join(state, 'runs', 'r', 'rows.jsonl'), join(state, 'rows')),
      anyDatastore(),
      '10/s',
    );
    expectSentence(
      end,
      /^Run r ended, and its journal has the results of 45 of 45 rows.* Only the report is missing\.$/m,
    );
    expectSentence(end, 'rows.jsonl is missing: restore it from a backup');
    expect(end.code).toBe(4);
    await rename(join(cwd, '.cqbatch', 'rows'), join(cwd, '.cqbatch', 'runs', 'r', 'rows.jsonl'));
    expect(await cqbatch(['report', 'r'], options)).toMatchObject({ code: 0 });
    expectEveryRowOnce(await readCsv(join(cwd, '.cqbatch', 'runs', 'r'), 'report.csv'), rows);
  });
});
