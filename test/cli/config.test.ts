import { chmod, chown, lchown, mkdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadSettings, requireOwn } from '../../src/cli/config.ts';
import { describeOnPosix } from '../helpers/describe-with-program.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** A state folder with a configuration, of a user that is not root. */
async function stateFolder() {
  const stateDir = join(await temporaryFolder(), '.cqbatch');
  const config = join(stateDir, 'config.json');
  await mkdir(stateDir, { mode: 0o700 });
  await writeFile(config, '{}', { mode: 0o600 });
  const { uid } = await stat(stateDir);
  if (uid === 0) for (const path of [stateDir, config]) await chown(path, 4242, 4242);
  return { stateDir, config, owner: uid || 4242 };
}

/** What the check says to a user. */
function askedBy(user: number, stateDir: string, sudoUid?: string): Promise<void> {
  const spy = vi.spyOn(process, 'geteuid').mockReturnValue(user);
  onTestFinished(() => spy.mockRestore());
  return requireOwn(stateDir, 'config.json', sudoUid);
}

const untrusted = (message: RegExp) =>
  expect.objectContaining({ code: 'STATE_DIR_UNTRUSTED', message: expect.stringMatching(message) });

test.each([
  ['UTF-8', Buffer.from('\ufeff{"base_url":"https://api.example.com"}')],
  ['UTF-16', Buffer.from('\ufeff{"base_url":"https://api.example.com"}', 'utf16le')],
])('settings may begin with the byte order mark of %s', async (_encoding, content) => {
  const stateDir = await temporaryFolder();
  await writeFile(join(stateDir, 'config.json'), content);
  expect(await loadSettings({ stateDir })).toMatchObject({ baseUrl: 'https://api.example.com' });
});

describeOnPosix('a state folder that was only found', () => {
  test('is trusted by its owner, also under sudo, and where it is not there', async () => {
    const { stateDir, owner } = await stateFolder();
    await askedBy(owner, stateDir);
    await askedBy(0, stateDir, String(owner));
    await askedBy(owner, join(stateDir, 'none'));
  });

  test('is refused to every other user, even root, with the command to type', async () => {
    const { stateDir, owner } = await stateFolder();
    const message = new RegExp(
      `\\.cqbatch belongs to another user \\(uid ${owner}\\),.* --state-dir \\S+\\.$`,
    );
    await expect(askedBy(owner + 1, stateDir)).rejects.toEqual(untrusted(message));
    await expect(askedBy(0, stateDir)).rejects.toEqual(untrusted(message));
    await expect(askedBy(0, stateDir, String(owner + 1))).rejects.toEqual(untrusted(message));
  });

  test.each(['', 'config.json'])(
    'is refused when another user has put a link in its place, wherever it leads: "%s"',
    async (name) => {
      const { stateDir, owner } = await stateFolder();
      const away = join(await temporaryFolder(), 'mine');
      const path = name === '' ? stateDir : join(stateDir, name);
      await rename(path, away);
      await symlink(away, path);
      await lchown(path, owner, -1);
      await askedBy(owner, stateDir);
      const message = new RegExp(`is a link that belongs to another user \\(uid ${owner}\\)`);
      for (const typed of [stateDir, `${stateDir}/`])
        await expect(askedBy(owner + 1, typed)).rejects.toEqual(untrusted(message));
    },
  );

  test.each([
    ['config.json', 0o602],
    ['', 0o770],
  ])('is refused when other users may change "%s" (mode %o)', async (name, mode) => {
    const { stateDir, owner } = await stateFolder();
    await chmod(join(stateDir, name), mode);
    const message = /config\.json may be changed by other users.*Type "chmod go-w \S+ \S+config\.json"/;
    await expect(askedBy(owner, stateDir)).rejects.toEqual(untrusted(message));
  });
});
