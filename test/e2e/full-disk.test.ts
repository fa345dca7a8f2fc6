import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCsv } from '../helpers/run-folder.ts';
import { describeWithSmallDisk, type SmallDisk, smallDisk } from '../helpers/small-disk.ts';
import { expectAgreement, expectEveryRowOnce } from './agreement.ts';
import { newHome } from './home.ts';
import { restoreCsv } from './manifests.ts';

const rows = 400;
/** Of every fifty evaluations of the sandbox one can't be restored. */
const someFailed = 1;
const runArgs = ['run', 'rows.csv', '--yes', '--run-id', 'r'];

/** A folder for commands whose state folder is on a small disk. */
async function newPlace(content: string | number) {
  const disk = smallDisk(100);
  const env = { CQBATCH_STATE_DIR: join(disk.folder, 'state') };
  return { ...(await newHome(content, ['--evaluations', '1000'], env)), disk };
}

const full = /^error: the disk of \S+ is full: free some space, then (.+)$/m;

/** Files that a write left half done. */
async function leftovers({ folder }: SmallDisk): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /\.tmp$|\.new$|\.arriving$/.test(name));
}

describeWithSmallDisk('a full disk', () => {
  test('ends a run at the first refused write, and resume finishes the run', async () => {
    const { disk, sandbox, start, run } = await newPlace(rows);
    const { end } = start(...runArgs, '--rate', '5/s', '--concurrency', '4');
    await sandbox.requested(10);
    disk.fill();
    const before = (await sandbox.log()).length;
    const { code, stderr } = await end;
    expect({ code, stderr }).toMatchObject({ code: 4 });
    expect(full.exec(stderr)?.[1]).toBe('cqbatch resume r');
    expect(stderr).toMatch(/^Run r stopped\. Its journal has the results of \d+ of 400 rows/m);
    expect(stderr).not.toContain('    at ');
    expect(await leftovers(disk)).toEqual([]);
    const after = (await sandbox.log()).length - before;
    // The journal is never two seconds behind. The rate leaves a slow machine ten times as long.
    expect(after).toBeLessThanOrEqual(100);

    // Still full: the same sentence.
    const again = await run('resume', 'r');
    expect(again.code).toBe(4);
    expect(full.exec(again.stderr)?.[1]).toBe('cqbatch resume r');

    disk.free();
    const resumed = await run('resume', 'r', '--rate', 'none');
    expect({ code: resumed.code, stderr: resumed.stderr }).toMatchObject({ code: someFailed });
    const report = await readCsv(join(disk.folder, 'state', 'runs', 'r'), 'report.csv');
    expectEveryRowOnce(report, rows);
    expectAgreement(report, await sandbox.log(), { killed: true });
  });

  test('is reported before anything is sent: by plan, and while the manifest is copied and the queue is created', async () => {
    const { disk, sandbox, run } = await newPlace(`${restoreCsv(3_000).text}x,u\n`);
    const failures: string[] = [];
    const fails = async (leave: number, ...args: string[]): Promise<void> => {
      disk.fill(leave);
      const { code, stdout, stderr } = await run(...args);
      if (code !== 4 || full.exec(stderr)?.[1] !== 'try again.' || stderr.includes('    at '))
        failures.push(`${args.join(' ')} with ${leave} bytes: ${code}\n${stdout}\n${stderr}`);
      failures.push(...(await leftovers(disk)));
      disk.free();
    };
    await fails(0, 'plan', 'rows.csv');
    await fails(0, ...runArgs, '--skip-invalid');
    await fails(8_192, ...runArgs, '--skip-invalid');
    await fails(4_000_000, ...runArgs, '--skip-invalid');
    expect(failures).toEqual([]);
    expect(await sandbox.log()).toEqual([]);
    // Nothing of what failed is in the way.
    expect((await run('list')).stdout).toContain('There is no run');
  });
});
