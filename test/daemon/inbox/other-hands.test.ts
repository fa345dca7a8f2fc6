import { execFileSync } from 'node:child_process';
import { chmod, chown, lstat, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exchangeWarning, refuseUnpinned } from '../../../src/daemon/inbox/other-users.ts';
import { finalFolders } from '../../../src/daemon/inbox/records.ts';
import { describeOnPosix, describeUnless, describeWhereFound } from '../../helpers/describe-with-program.ts';
import { digest, done, inboxPlace } from './inbox-place.ts';

test('users with access to the inbox have access to its folders', async () => {
  const { inbox, open } = await inboxPlace();
  await chmod(inbox, 0o771);
  await open();
  for (const name of ['running', ...finalFolders])
    expect((await stat(join(inbox, name))).mode & 0o777).toBe(0o771);
});

test('folders that were removed meanwhile are made again', async () => {
  const { inbox, drop, open, next, files } = await inboxPlace();
  const clearAway = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await rm(join(inbox, name), { recursive: true });
  };
  const unique = `a.${digest('x').slice(0, 8)}.csv`;
  const watched = await open();
  await clearAway('running');
  await drop('a.csv', 'x');
  const { manifest } = await next(watched);
  await clearAway(...finalFolders);
  await manifest?.finish(done);
  expect(await files()).toEqual([join('done', unique)]);
  await clearAway('done');
  await drop('a.csv', 'x');
  await next(watched);
  expect(await files()).toEqual([join('done', unique), join('done', `${unique}.copy.txt`)]);
});

test('a file that cannot be moved does not block the others', async () => {
  const { inbox, drop, open, next, work } = await inboxPlace();
  // Its name would be too long.
  const name = `a.${'x'.repeat(250)}`;
  await drop(name, 'x', 100);
  await drop('b.csv', 'y');
  const watched = await open(join(inbox, '*'));
  expect(await work(watched)).toEqual(['b.csv']);
  expect((await next(watched)).others).toMatchObject([{ name, taking: { kind: 'unusable' } }]);
});

describeUnless(
  process.platform === 'linux' ? undefined : 'only Linux has file names that are not UTF-8',
  'a file whose name is not UTF-8',
  () => {
    test('is reported', async () => {
      const { drop, open, next, work } = await inboxPlace();
      await drop(Buffer.from('M\xfcller.csv', 'latin1'), 'x', 100);
      await drop('b.csv', 'y');
      const watched = await open();
      expect(await work(watched)).toEqual(['b.csv']);
      expect((await next(watched)).others).toEqual([
        { name: 'M\ufffdller.csv', taking: { kind: 'unusable', why: 'its name is not UTF-8; rename it' } },
      ]);
    });
  },
);

describeOnPosix('a link that another user has put', () => {
  /** An inbox, and a file that only the user of the watcher may read and write. */
  async function secretPlace() {
    const place = await inboxPlace();
    const secret = join(place.folder, 'secret');
    await writeFile(secret, 'evaluation_id,user_id\n1,u\n', { mode: 0o600 });
    const { ino } = await stat(secret);
    return {
      ...place,
      secret,
      /** Whether it is as it was. */
      async isUntouched(): Promise<boolean> {
        const { ino: now, mode } = await stat(secret);
        return now === ino && (mode & 0o777) === 0o600 && (await readFile(secret, 'utf8')).startsWith('eval');
      },
    };
  }

  test.each([
    ['failed', '.error.txt'],
    ['partial', '.failed.csv'],
    ['done', ''],
  ] as const)('as %s/NAME%s, where a file will be written, is replaced', async (folder, suffix) => {
    const { inbox, secret, isUntouched, drop, open, work } = await secretPlace();
    const watched = await open();
    await drop('bad.csv', 'x', 100);
    await chmod(join(inbox, 'bad.csv'), 0o666);
    const file = join(inbox, folder, `bad.${digest('x').slice(0, 8)}.csv${suffix}`);
    await symlink(secret, file);
    const files = { '.failed.csv': secret };
    await work(watched, { folder, text: 'why', files, ranOn: 'https://api.example' });
    expect(await isUntouched()).toBe(true);
    const written = await lstat(file);
    expect({ isFile: written.isFile(), mode: written.mode & 0o777 }).toEqual({ isFile: true, mode: 0o666 });
  });

  test('as the note about a copy is replaced', async () => {
    const { inbox, secret, isUntouched, drop, open, work } = await secretPlace();
    const watched = await open();
    await drop('a.csv', 'x', 100);
    await work(watched);
    const note = join(inbox, 'done', `b.${digest('x').slice(0, 8)}.csv.copy.txt`);
    await symlink(secret, note);
    await drop('b.csv', 'x', 100);
    await work(watched);
    expect(await isUntouched()).toBe(true);
    expect(await readFile(note, 'utf8')).toContain('b.csv has the same content as a.csv');
  });

  test('in place of a waiting or taken manifest is not read', async () => {
    const { inbox, secret, drop, open, next } = await secretPlace();
    const watched = await open();
    await drop('first.csv', 'first', 200);
    await drop('a.csv', 'x', 100);
    const met: object[] = [];
    for await (const { name, taking } of watched.take()) {
      met.push({ name, kind: taking.kind });
      if (taking.kind !== 'taken') continue;
      await rm(join(inbox, 'a.csv'));
      await symlink(secret, join(inbox, 'a.csv'));
      await taking.manifest.finish(done);
    }
    expect(met).toEqual([
      { name: 'first.csv', kind: 'taken' },
      { name: 'a.csv', kind: 'gone' },
    ]);

    await drop('b.csv', 'y', 100);
    const { manifest } = await next(watched);
    const taken = manifest?.path ?? '';
    await manifest?.release();
    await rm(taken);
    await symlink(secret, taken);
    expect((await next(watched)).manifest).toBeUndefined();
  });
});

describeOnPosix('the records of an inbox', () => {
  const parts = ['', 'taken', 'ended', 'locks'] as const;

  test.each(parts)('are refused when other users may change .cqbatch-inbox/%s', async (part) => {
    const { inbox, drop, open, work } = await inboxPlace();
    const path = join(inbox, '.cqbatch-inbox', part);
    const watched = await open();
    await chmod(path, 0o777);
    const refused = {
      code: 'INBOX_UNUSABLE',
      message: expect.stringContaining(`${path} may be changed by other users`),
    };
    await expect(open()).rejects.toMatchObject(refused);
    await drop('a.csv', 'x', 100);
    await expect(work(watched)).rejects.toMatchObject(refused);
    const [, remedy = ''] = /type: (.*)$/.exec(await messageOf(open())) ?? [];
    execFileSync('sh', ['-c', remedy]);
    expect(await work(await open())).toEqual(['a.csv']);
  });

  test('are refused when one of them is writable for others', async () => {
    const { inbox, drop, open, next, work } = await inboxPlace();
    const watched = await open();
    await drop('a.csv', 'x', 100);
    const { manifest } = await next(watched);
    await manifest?.release();
    const record = join(inbox, '.cqbatch-inbox', 'taken', `${digest('x')}.json`);
    await chmod(record, 0o666);
    await expect(work(watched)).rejects.toMatchObject({
      message: expect.stringContaining(`${record} may be changed by other users`),
    });
  });

  describeWhereFound(
    process.geteuid?.() === 0 ? undefined : 'only root can give files away',
    'for root',
    () => {
      test('are refused when another user owns them', async () => {
        const { inbox, open, work } = await inboxPlace();
        const path = join(inbox, '.cqbatch-inbox');
        await open();
        await chown(path, 4242, 4242);
        expect(await messageOf(open())).toContain(`${path} belongs to another user (uid 4242)`);
        const [, remedy = ''] = /type: (.*)$/.exec(await messageOf(open())) ?? [];
        execFileSync('sh', ['-c', remedy]);
        expect(await work(await open())).toEqual([]);
      });
    },
  );
});

function messageOf(failing: Promise<unknown>): Promise<string> {
  return failing.then(
    () => 'nothing failed',
    ({ message }: Error) => message,
  );
}

test('records that were renamed are missed, and not made again', async () => {
  const { inbox, drop, open, work } = await inboxPlace();
  const watched = await open();
  await drop('a.csv', 'x');
  await work(watched);
  const records = join(inbox, '.cqbatch-inbox');
  await rename(records, `${records}.old`);
  await drop('a.csv', 'x');
  const missing = { code: 'INBOX_RECORDS_MISSING', message: expect.stringContaining(`${records}, which`) };
  await expect(work(watched)).rejects.toMatchObject(missing);
  await expect(open()).rejects.toMatchObject(missing);
  const [, remedy = ''] = /type: (.*)$/.exec(await messageOf(open())) ?? [];
  execFileSync('sh', ['-c', remedy]);
  expect(await work(await open())).toEqual([]);
});

test('an inbox that has gone is not made again', async () => {
  const { inbox, drop, open, next } = await inboxPlace();
  const watched = await open();
  await drop('a.csv', 'x', 100);
  const { manifest } = await next(watched);
  await rename(inbox, `${inbox}-unmounted`);
  await expect(manifest?.finish(done)).rejects.toMatchObject({ code: 'FILE_MISSING' });
  await expect(next(watched)).rejects.toMatchObject({ code: 'FILE_MISSING' });
  await expect(lstat(inbox)).rejects.toThrow('ENOENT');
});

describeOnPosix('an inbox that other users may write', () => {
  const shared = async (mode: number) => {
    const { inbox } = await inboxPlace();
    await chmod(inbox, mode);
    return inbox;
  };

  test('is told what they could do, unless it is sticky', async () => {
    const inbox = await shared(0o777);
    expect(await exchangeWarning(inbox)).toContain(
      'may also remove, rename and replace what others put there',
    );
    const [, remedy = ''] = /type: (.*)$/.exec((await exchangeWarning(inbox)) ?? '') ?? [];
    execFileSync('sh', ['-c', remedy]);
    expect((await stat(inbox)).mode & 0o7777).toBe(0o1777);
    for (const silent of [inbox, await shared(0o755)]) expect(await exchangeWarning(silent)).toBeUndefined();
  });

  test('is refused where its folders could be exchanged', async () => {
    const inbox = await shared(0o1777);
    await expect(refuseUnpinned(inbox, false)).rejects.toMatchObject({
      code: 'INBOX_UNUSABLE',
      message: expect.stringContaining(`type: chmod go-w ${inbox}`),
    });
    await refuseUnpinned(inbox, true);
    await refuseUnpinned(await shared(0o755), false);
  });
});
