import { chmod, mkdir, stat, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { codeCachePath, makeCodeCache } from '../../../src/base/disk/code-cache.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test.each([
  ['/elsewhere', '/elsewhere/cqbatch'],
  ['', join(homedir(), '.cache/cqbatch')],
])('with XDG_CACHE_HOME=%s, kept code is in %s', (value, path) => {
  vi.stubEnv('XDG_CACHE_HOME', value);
  expect(codeCachePath()).toBe(path);
  vi.unstubAllEnvs();
});

test('only the user may change kept code', async () => {
  const folder = await temporaryFolder();
  const cache = join(folder, 'home/.cache/cqbatch');
  makeCodeCache(cache);
  expect((await stat(cache)).mode & 0o777).toBe(0o700);
  makeCodeCache(cache);
  const link = join(folder, 'link');
  await symlink(cache, link);
  expect(() => makeCodeCache(link)).toThrow(
    `${link} must be a folder of yours that no other user may change`,
  );
  for (const mode of [0o770, 0o702]) {
    await chmod(cache, mode);
    expect(() => makeCodeCache(cache)).toThrow(`${cache} must be a folder of yours`);
  }
  await mkdir(join(folder, 'others'), { mode: 0o755 });
  makeCodeCache(join(folder, 'others'));
});
