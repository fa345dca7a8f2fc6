import { execFileSync } from 'node:child_process';
import { mkdir, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { operations } from '../../../jobs/index.ts';
import {
  isAbandoned,
  keepFolder,
  ownFolder,
  removeHalfDone,
  withTemporaryFolder,
} from '../../../src/base/disk/owned-folder.ts';
import { thisProcess } from '../../../src/base/disk/process.ts';
import { openRunStore } from '../../../src/engine/run/record/store.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** The number of a process that has ended. */
function deadPid(): number {
  return Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
}

async function ownedBy(owner: object | undefined, daysOld = 0): Promise<string> {
  const folder = join(await temporaryFolder(), 'folder');
  await mkdir(folder);
  const changed = new Date(Date.now() - daysOld * 25 * 60 * 60 * 1_000);
  if (owner !== undefined) {
    await writeFile(join(folder, 'owner.json'), JSON.stringify(owner));
    await utimes(join(folder, 'owner.json'), changed, changed);
  }
  await utimes(folder, changed, changed);
  return folder;
}

const here = thisProcess();

test.each<[title: string, owner: () => object | undefined, daysOld: number, abandoned: boolean]>([
  ['of a living process is not abandoned, however old', () => here, 1, false],
  ['of a dead process is abandoned at once', () => ({ ...here, pid: deadPid() }), 0, true],
  ['of a dead process whose number is in use again is abandoned', () => ({ ...here, started: '1' }), 0, true],
  ['of a process with another host name is not abandoned', () => ({ ...here, host: 'elsewhere' }), 0, false],
  [
    'whose owner has another host name, and has not touched it for a minute, is abandoned',
    () => ({ ...here, host: 'elsewhere' }),
    1 / 1_440,
    true,
  ],
  ['without an owner is not abandoned', () => undefined, 0, false],
  ['without an owner is abandoned after a day', () => undefined, 1, true],
  ['that is empty, without an owner, is abandoned after a minute', () => undefined, 1 / 1_500, true],
  ['with an owner that cannot be read is not abandoned', () => ({ pid: 'x' }), 0, false],
])('a folder %s', async (_title, owner, daysOld, abandoned) => {
  expect(await isAbandoned(await ownedBy(owner(), daysOld))).toBe(abandoned);
});

test('a folder whose owner cannot be read now is not abandoned, however old', async () => {
  const folder = await temporaryFolder();
  await symlink('owner.json', join(folder, 'owner.json'));
  await utimes(folder, 0, 0);
  expect(await isAbandoned(folder)).toBe(false);
});

test('the owner touches its folder until the folder is kept or gone', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = await ownedBy(undefined);
  await ownFolder(folder);
  const path = join(folder, 'owner.json');
  vi.setSystemTime(Date.now() + 3_600_000);
  await vi.advanceTimersByTimeAsync(10_000);
  await expect.poll(async () => (await stat(path)).mtimeMs > Date.now() - 1_000).toBe(true);
  await keepFolder(folder);
  await vi.advanceTimersByTimeAsync(10_000);
  await expect.poll(() => vi.getTimerCount()).toBe(0);
});

test('half-written files of killed commands are removed after an hour', async () => {
  const folder = await temporaryFolder();
  const before = new Date(Date.now() - 2 * 60 * 60 * 1_000);
  for (const name of ['run.json.17.tmp', 'report.csv.0a1b.tmp', 'run.json']) {
    await writeFile(join(folder, name), 'x');
    if (name !== 'report.csv.0a1b.tmp') await utimes(join(folder, name), before, before);
  }
  await removeHalfDone(folder);
  expect((await readdir(folder)).toSorted()).toEqual(['report.csv.0a1b.tmp', 'run.json']);
});

test('leftovers of dead processes are removed when another temporary folder or run is made', async () => {
  const parent = join(await temporaryFolder(), 'state');
  const paths = async () => (await readdir(parent)).map((name) => join(parent, name)).toSorted();
  const mine = join(parent, 'plan-of-mine');
  const disown = (folder: string) =>
    writeFile(join(folder, 'owner.json'), JSON.stringify({ ...here, pid: deadPid() }));
  await withTemporaryFolder(parent, 'plan', async (first) => {
    await withTemporaryFolder(parent, 'plan', async (second) => {
      await disown(first);
      await mkdir(mine);
      await withTemporaryFolder(parent, 'retry', async (third) => {
        expect(await paths()).toEqual([second, third, mine].toSorted());
        await disown(third);
        await openRunStore(parent, operations).create();
        expect(await paths()).toEqual([second, mine, join(parent, 'runs')].toSorted());
      });
    });
  });
  expect(await paths()).toEqual([mine, join(parent, 'runs')].toSorted());
});
