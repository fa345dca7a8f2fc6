import { mkdir, open, readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { pinsFolders } from '../../../src/base/disk/open-folder.ts';
import { describeUnless } from '../../helpers/describe-with-program.ts';
import { digest, done, inboxPlace } from './inbox-place.ts';

vi.mock('node:fs/promises', { spy: true });

const unique = `a.${digest('x').slice(0, 8)}.csv`;

/** An inbox with a taken manifest. Another user exchanges a folder of the inbox for a link just before a file is made in that folder. */
async function attacked(name: string, count: number) {
  const place = await inboxPlace();
  const { inbox, folder, drop, open: openInbox } = place;
  const watched = await openInbox();
  await drop('a.csv', 'x');
  const victim = join(folder, 'victim');
  for (const part of ['', 'taken', 'ended']) await mkdir(join(victim, part));
  const { open: original } = await vi.importActual<typeof import('node:fs/promises')>('node:fs/promises');
  let made = 0;
  vi.mocked(open).mockImplementation(async (...options) => {
    if (options[1] === 'wx' && ++made === count) {
      await rename(join(inbox, name), join(inbox, `${name}-away`));
      await symlink(victim, join(inbox, name));
    }
    return original(...options);
  });
  const inVictim = async () => (await readdir(victim, { recursive: true })).toSorted();
  return { ...place, watched, inVictim, wasAttacked: () => made >= count };
}

describeUnless(
  pinsFolders ? undefined : 'only Linux opens files below a descriptor',
  'a folder that is exchanged for a link between check and write',
  () => {
    test('redirects no result, and no manifest', async () => {
      // A lock and the record of the taken file are made first.
      const { watched, next, inVictim, wasAttacked, inbox } = await attacked('failed', 3);
      const { manifest } = await next(watched);
      await manifest?.finish({ folder: 'failed', text: 'why' });
      expect(wasAttacked()).toBe(true);
      expect(await inVictim()).toEqual(['ended', 'taken']);
      expect((await readdir(join(inbox, 'failed-away'))).toSorted()).toEqual([unique, `${unique}.error.txt`]);
    });

    test.each([
      ['takes', 2],
      ['ends', 3],
    ])('redirects no record of a manifest that it %s', async (_what, count) => {
      const { watched, next, inVictim, wasAttacked } = await attacked('.cqbatch-inbox', count);
      const work = async () => (await next(watched)).manifest?.finish(done);
      // What the folder of records was is noticed at the next use.
      await expect(work().then(() => next(watched))).rejects.toMatchObject({ code: 'INBOX_UNUSABLE' });
      expect(wasAttacked()).toBe(true);
      expect(await inVictim()).toEqual(['ended', 'taken']);
    });
  },
);
