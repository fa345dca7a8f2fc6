import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tokenFolder } from '../../src/api/token-folder.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

test('each file with a valid name is the token of a rate group', async () => {
  const dir = await temporaryFolder();
  const ignored: string[] = [];
  const folder = tokenFolder(dir, ({ message }) => ignored.push(message));
  expect([...(await folder.groups()).keys()]).toEqual([]);
  for (const name of ['other', 'acme', '.hidden', 'a copy'])
    await writeFile(join(dir, name), `token-${name}\n`);
  await mkdir(join(dir, 'folder'));
  await symlink('nowhere', join(dir, 'dangling'));
  expect([...(await folder.groups()).keys()]).toEqual(['acme', 'other']);
  expect(await folder.token('acme').current()).toBe('token-acme');
  expect(ignored).toEqual([
    expect.stringMatching(/a copy is ignored: its name is no rate group: write 1 to 64 /),
  ]);
});

test('the files of a secret of Kubernetes are followed through its hidden folders', async () => {
  const dir = await temporaryFolder();
  const mount = async (version: string): Promise<void> => {
    await mkdir(join(dir, `..${version}`));
    await writeFile(join(dir, `..${version}`, 'acme'), `token-${version}`);
    await symlink(`..${version}`, join(dir, '..new'));
    await rename(join(dir, '..new'), join(dir, '..data'));
  };
  await mount('1');
  await symlink('..data/acme', join(dir, 'acme'));
  const folder = tokenFolder(dir);
  const before = await folder.groups();
  expect(await folder.groups()).toEqual(before);
  await mount('2');
  const after = await folder.groups();
  expect([...after.keys()]).toEqual(['acme']);
  expect(after).not.toEqual(before);
  expect(await folder.token('acme').current()).toBe('token-2');
});

test('a folder or a token that is missing is a usage error that names the setting', async () => {
  const dir = await temporaryFolder();
  const setting = /ENOENT\): check --token-dir or CQBATCH_TOKEN_DIR$/;
  await expect(tokenFolder(dir).token('acme').current()).rejects.toMatchObject({
    ...{ kind: 'usage', code: 'TOKEN_UNREADABLE', message: expect.stringMatching(setting) },
  });
  await rm(dir, { recursive: true });
  await expect(tokenFolder(dir).groups()).rejects.toMatchObject({
    ...{ kind: 'usage', code: 'TOKEN_UNREADABLE', message: expect.stringMatching(setting) },
  });
});
