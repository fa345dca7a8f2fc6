import { chmod, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finalFolders } from '../../src/inbox/records.ts';
import { describeUnless } from '../helpers/describe-with-program.ts';
import { digest, done, inboxPlace } from './inbox-place.ts';

test('users with access to the inbox have access to its folders', async () => {
  const { inbox, open } = await inboxPlace();
  await chmod(inbox, 0o771);
  await open();
  for (const name of ['running', ...finalFolders])
    expect((await stat(join(inbox, name))).mode & 0o777).toBe(0o771);
});

test('folders that were removed meanwhile are made again', async () => {
  const { inbox, hasRun, drop, open, files } = await inboxPlace();
  const clearAway = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await rm(join(inbox, name), { recursive: true });
  };
  const unique = `a.${digest('x').slice(0, 8)}.csv`;
  const watched = await open();
  await clearAway('running');
  await drop('a.csv', 'x');
  const { manifest } = await watched.next(hasRun);
  await clearAway(...finalFolders);
  await manifest?.finish(done);
  expect(await files()).toEqual([join('done', unique)]);
  await clearAway('done');
  await drop('a.csv', 'x');
  await watched.next(hasRun);
  expect(await files()).toEqual([join('done', unique), join('done', `${unique}.copy.txt`)]);
});

test('a file that cannot be moved does not block the others', async () => {
  const { inbox, hasRun, drop, open, work } = await inboxPlace();
  // Its name would be too long.
  const name = `a.${'x'.repeat(250)}`;
  await drop(name, 'x', 100);
  await drop('b.csv', 'y');
  const watched = await open(join(inbox, '*'));
  expect(await work(watched)).toEqual(['b.csv']);
  expect((await watched.next(hasRun)).others).toEqual([
    { name, taking: { kind: 'unusable', why: expect.stringContaining('is longer than the system allows') } },
  ]);
});

describeUnless(
  process.platform === 'linux' ? undefined : 'only Linux has file names that are not UTF-8',
  'a file whose name is not UTF-8',
  () => {
    test('is reported', async () => {
      const { hasRun, drop, open, work } = await inboxPlace();
      await drop(Buffer.from('M\xfcller.csv', 'latin1'), 'x', 100);
      await drop('b.csv', 'y');
      const watched = await open();
      expect(await work(watched)).toEqual(['b.csv']);
      expect((await watched.next(hasRun)).others).toEqual([
        { name: 'M\ufffdller.csv', taking: { kind: 'unusable', why: 'its name is not UTF-8; rename it' } },
      ]);
    });
  },
);

test('the command for running a copy anyway works as shown', async () => {
  const { inbox, drop, open, work } = await inboxPlace();
  const watched = await open();
  await drop("it's.csv", 'x', 100);
  await drop("it's a copy.csv", 'x');
  await work(watched);
  const text = await readFile(
    join(inbox, 'done', `it's a copy.${digest('x').slice(0, 8)}.csv.copy.txt`),
    'utf8',
  );
  expect(text).toContain(`cqbatch run "${inbox}/done/it's a copy.`);
});
