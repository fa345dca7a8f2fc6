import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  createFile,
  makeFolder,
  makeFolderLikeParent,
  makePrivate,
  replaceFile,
  whyForeign,
  writeFileAtomically,
} from '../../../src/base/disk/files.ts';
import { describeOnPosix } from '../../helpers/describe-with-program.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

vi.mock('node:fs/promises', { spy: true });

describe('a file that is written whole', () => {
  test('stays whole with six writers of one path, whatever process id they have, and the last call wins', async () => {
    // A second copy of the module is a process of another container with the same process id.
    const copy = '../../../src/base/disk/files.ts?elsewhere';
    const elsewhere: typeof import('../../../src/base/disk/files.ts') = await import(/* @vite-ignore */ copy);
    expect(elsewhere.replaceFile).not.toBe(replaceFile);
    const folder = await temporaryFolder();
    const path = join(folder, 'targets.json');
    const text = (round: number, writer: number): string =>
      JSON.stringify({ round, writer, fill: 'x'.repeat(writer * 10_000) });
    for (let round = 0; round < 60; round++) {
      const writes = [1, 2, 3, 4, 5, 6].map((writer) =>
        (writer % 2 === 0 ? elsewhere : { replaceFile }).replaceFile(path, text(round, writer)),
      );
      await Promise.all(writes);
      const last = JSON.parse(await readFile(path, 'utf8'));
      // Each copy of the module writes in the order of its calls.
      expect([5, 6]).toContain(last.writer);
      expect(last.round).toBe(round);
    }
    expect(await readdir(folder)).toEqual(['targets.json']);
  });

  test('may have parts, and the longest name, and stays as it was when the new content breaks off', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'n'.repeat(255));
    await writeFileAtomically(path, ['a', 'b']);
    expect(await readFile(path, 'utf8')).toBe('ab');
    await writeFileAtomically(path, chunks());
    expect(await readFile(path, 'utf8')).toBe('cd');
    await expect(replaceFile(path, chunks(new Error('broken off')))).rejects.toThrow('broken off');
    expect(await readFile(path, 'utf8')).toBe('cd');
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('is created once by all who create it', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'id');
    const texts = ['1', '2', '3', '4', '5', '6'];
    const created = await Promise.all(texts.map((text) => createFile(path, text)));
    expect(created.filter(Boolean)).toHaveLength(1);
    expect(await readFile(path, 'utf8')).toBe(texts[created.indexOf(true)]);
    expect(await readdir(folder)).toEqual(['id']);
  });
});

async function* chunks(error?: Error): AsyncGenerator<Buffer> {
  yield Buffer.from('c');
  if (error !== undefined) throw error;
  yield Buffer.from('d');
}

test('a folder that has gone is not made again by this process: its disk may be away', async () => {
  const folder = join(await temporaryFolder(), 'a', 'b');
  await makeFolder(folder);
  await makeFolder(folder);
  await rename(folder, `${folder}-unmounted`);
  await expect(makeFolder(folder)).rejects.toMatchObject({ code: 'FILE_MISSING' });
  await expect(lstat(folder)).rejects.toThrow('ENOENT');
  await rename(`${folder}-unmounted`, folder);
  await makeFolder(folder);
});

describeOnPosix('what another user has put in place of a file', () => {
  test('is replaced, not followed, and keeps its content and rights', async () => {
    const folder = await temporaryFolder();
    const secret = join(folder, 'secret');
    await writeFile(secret, 'secret', { mode: 0o600 });
    for (const [name, write] of [
      ['replaced', (path: string) => replaceFile(path, 'new', 0o666)],
      ['created', (path: string) => createFile(path, 'new')],
    ] as const) {
      const path = join(folder, name);
      await symlink(secret, path);
      await write(path);
      expect(await readFile(secret, 'utf8')).toBe('secret');
      expect((await stat(secret)).mode & 0o777).toBe(0o600);
    }
    expect((await lstat(join(folder, 'replaced'))).mode & 0o170777).toBe(0o100666);
    expect((await lstat(join(folder, 'created'))).isSymbolicLink()).toBe(true);
  });

  test('gets no rights when it is a link in place of a folder', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'target'), { mode: 0o700 });
    await symlink(join(folder, 'target'), join(folder, 'link'));
    await chmod(folder, 0o777);
    await makeFolderLikeParent(join(folder, 'link'));
    expect((await stat(join(folder, 'target'))).mode & 0o777).toBe(0o700);
    await makeFolderLikeParent(join(folder, 'own'));
    expect((await stat(join(folder, 'own'))).mode & 0o777).toBe(0o777);
    await expect(makeFolderLikeParent(join(folder, 'none', 'own'))).rejects.toThrow('ENOENT');
  });

  test('is known by its owner, its rights, or as a link', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'file');
    await symlink('nowhere', join(folder, 'link'));
    expect(await whyForeign(join(folder, 'none'))).toBeUndefined();
    expect(await whyForeign(join(folder, 'link'))).toBe('is a symbolic link');
    await writeFile(path, '');
    for (const [mode, why] of [
      [0o644, undefined],
      [0o664, 'may be changed by other users'],
      [0o602, 'may be changed by other users'],
    ] as const) {
      await chmod(path, mode);
      expect(await whyForeign(path)).toBe(why);
    }
    if (process.geteuid?.() !== 0) return;
    await chown(path, 4242, 4242);
    expect(await whyForeign(path)).toBe('belongs to another user (uid 4242)');
  });
});

test('a file that is not written says why, even if what is left of it cannot be removed', async () => {
  const folder = await temporaryFolder();
  const content = async function* (): AsyncGenerator<string> {
    yield 'evaluation_id\n';
    const [temporary = ''] = await readdir(folder);
    await rm(join(folder, temporary));
    await mkdir(join(folder, temporary));
    throw new Error('the rows are damaged');
  };
  await expect(replaceFile(join(folder, 'file'), content())).rejects.toThrow('the rows are damaged');
});

test('what another user owns is left alone when a folder is closed to others', async () => {
  const folder = await temporaryFolder();
  const open = join(folder, 'open');
  await writeFile(open, '', { mode: 0o644 });
  const refused = Object.assign(new Error('EPERM'), { code: 'EPERM' });
  vi.mocked(chmod).mockRejectedValueOnce(refused);
  await makePrivate(open);
  expect((await stat(open)).mode & 0o777).toBe(0o644);
  vi.mocked(readdir).mockRejectedValueOnce(refused);
  await makePrivate(folder);
  expect((await stat(open)).mode & 0o777).toBe(0o644);
  await makePrivate(folder);
  expect((await stat(open)).mode & 0o777).toBe(0o600);
});
