import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from 'tar';
import { expect, test } from 'vitest';
import { unpackOnce } from '../../../src/build/executable/unpack.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** A new folder, an archive of two files, and a cache that does not exist yet. */
async function prepare() {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'content/dist'), { recursive: true });
  await writeFile(join(folder, 'content/package.json'), '{}');
  await writeFile(join(folder, 'content/dist/code.js'), 'x'.repeat(700));
  const packed = create({ cwd: join(folder, 'content'), portable: true, sync: true }, ['.']).read();
  return { folder, archive: () => packed as Buffer, cache: join(folder, 'home/.cache/cqbatch') };
}

const none = (): Buffer => {
  throw new Error('nothing to unpack');
};

test('unpacks at the first start only, for its user alone', async () => {
  const { archive, cache } = await prepare();
  const folder = unpackOnce(archive, cache, '1.0.0-ab');
  expect(folder).toBe(join(cache, '1.0.0-ab'));
  expect(await readFile(join(folder, 'dist/code.js'), 'utf8')).toBe('x'.repeat(700));
  for (const path of [cache, folder, join(folder, 'dist')])
    expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, 'package.json'))).mode & 0o777).toBe(0o600);
  expect(unpackOnce(none, cache, '1.0.0-ab')).toBe(folder);
  expect(await readdir(cache)).toEqual(['1.0.0-ab']);
});

test('takes the folder of another process that was faster', async () => {
  const { archive, cache } = await prepare();
  const during = () => {
    unpackOnce(archive, cache, 'same');
    return archive();
  };
  expect(unpackOnce(during, cache, 'same')).toBe(join(cache, 'same'));
  expect(await readdir(cache)).toEqual(['same']);
});

test('leaves nothing behind when it fails', async () => {
  const { archive, cache } = await prepare();
  const cut = () => Buffer.concat([archive().subarray(0, 1_024), Buffer.alloc(512, 'x')]);
  expect(() => unpackOnce(none, cache, 'new')).toThrow('nothing to unpack');
  expect(() => unpackOnce(cut, cache, 'new')).toThrow();
  expect(await readdir(cache)).toEqual([]);
});

test('refuses a cache that other users may change, and a link', async () => {
  const { folder, archive, cache } = await prepare();
  unpackOnce(archive, cache, 'here');
  const link = join(folder, 'link');
  await symlink(cache, link);
  expect(() => unpackOnce(archive, link, 'here')).toThrow(`${link} must be a folder of yours`);
  await chmod(cache, 0o770);
  expect(() => unpackOnce(archive, cache, 'here')).toThrow(`${cache} must be a folder of yours`);
});
