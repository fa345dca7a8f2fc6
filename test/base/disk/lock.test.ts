import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { lockPath } from '../../../src/base/disk/lock.ts';
import { localTime } from '../../../src/base/text/local-time.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** Done once, between the making of a lock and the look at it, which then fails. */
let meanwhile: (() => Promise<void>) | undefined;

vi.mock('proper-lockfile', async (importOriginal) => {
  const real = await importOriginal<typeof import('proper-lockfile')>();
  const lock: typeof real.lock = async (path, options) => {
    if (meanwhile === undefined) return real.lock(path, options);
    await mkdir(options?.lockfilePath ?? '');
    await meanwhile();
    meanwhile = undefined;
    throw Object.assign(new Error('it is not there'), { code: 'ENOENT' });
  };
  return { ...real, lock };
});

const dead = { pid: 2 ** 22 + 1, host: hostname(), started: '1' };
const since = '2026-01-01T00:00:00.000Z';
const elsewhere = { pid: 1, host: 'elsewhere', started: '1' };

const takeAt = (path: string) =>
  lockPath({ path, purpose: 'test', taken: (who) => new Error(`taken by ${who}`) });

/** A lock that another process holds or left behind, touched this many seconds ago by its own clock. */
async function lockOf(holder: typeof dead, agoSeconds: number) {
  const path = join(await temporaryFolder(), 'run');
  await mkdir(`${path}.lock`);
  await writeFile(`${path}.holder.json`, JSON.stringify({ ...holder, purpose: 'run r', since }));
  const touch = async (): Promise<void> => {
    const at = Date.now() / 1_000 - agoSeconds;
    await utimes(`${path}.lock`, at, at);
  };
  await touch();
  return { touch, take: () => takeAt(path) };
}

/** A folder of a run that can go away, and a lock in it. */
async function folderWithLock() {
  const folder = join(await temporaryFolder(), 'run');
  await mkdir(folder);
  const goAway = () => rename(folder, `${folder}.away`);
  const comeBack = () => rename(`${folder}.away`, folder);
  return { folder, goAway, comeBack, take: () => takeAt(join(folder, 'run')) };
}

describe('a lock', () => {
  test('is taken over from a dead or long silent holder, even when the clock was set back', async () => {
    const left = [await lockOf(dead, 60), await lockOf(dead, -3_600), await lockOf(elsewhere, 3_600)];
    const takeOver = async ({ take }: (typeof left)[number]): Promise<void> => {
      const lock = await take();
      await expect(take()).rejects.toThrow(`taken by this process`);
      await lock.release();
    };
    await Promise.all(left.map(takeOver));
  });

  test.each([
    ['right', 0, 0],
    ['an hour behind', 3_600, 0],
    ['an hour behind, though this process stands still meanwhile', 3_600, 4_000],
    ['an hour ahead', -3_600, 0],
  ])(
    'is not taken from a process of another machine whose clock is %s',
    async (_title, agoSeconds, stallMs) => {
      const { touch, take } = await lockOf(elsewhere, agoSeconds);
      const timer = setInterval(() => void touch().catch(() => {}), 500);
      onTestFinished(() => clearInterval(timer));
      setTimeout(() => {
        for (const until = performance.now() + stallMs; performance.now() < until; );
      }, 300);
      await expect(take()).rejects.toThrow(
        `taken by process 1 on elsewhere (run r, since ${localTime(since)})`,
      );
    },
  );

  test.each([
    ['at its release', 0],
    ['in the middle of its release', 1],
  ])('can be taken again when its folder was missing %s', async (_when, removedFiles) => {
    const { folder, goAway, comeBack, take } = await folderWithLock();
    const lock = await take();
    if (removedFiles > 0) await rm(join(folder, 'run.holder.json'));
    await goAway();
    await lock.release();
    await comeBack();
    await (await take()).release();
  });

  test('can be taken again when its folder went away before the new lock was looked at', async () => {
    const { goAway, comeBack, take } = await folderWithLock();
    meanwhile = goAway;
    await expect(take()).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await comeBack();
    await (await take()).release();
  });

  test('is left to another process that has taken it over', async () => {
    const path = join(await temporaryFolder(), 'run');
    const lock = await takeAt(path);
    await rm(`${path}.lock`, { recursive: true });
    await mkdir(`${path}.lock`);
    // Within one tick of the system's clock it would have the same time, by which a holder recognizes its lock.
    const later = Date.now() / 1_000 + 1;
    await utimes(`${path}.lock`, later, later);
    await writeFile(`${path}.holder.json`, JSON.stringify(elsewhere));
    await lock.lost;
    await lock.release();
    expect(JSON.parse(await readFile(`${path}.holder.json`, 'utf8'))).toEqual(elsewhere);
  });

  test('is released without an error where something else keeps its folder', async () => {
    const path = join(await temporaryFolder(), 'run');
    const lock = await takeAt(path);
    await writeFile(join(`${path}.lock`, 'other'), '');
    await lock.release();
    expect(await readdir(`${path}.lock`)).toEqual(['other']);
    await rm(`${path}.lock`, { recursive: true });
    await (await takeAt(path)).release();
  });
});
