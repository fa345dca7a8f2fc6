import { closeSync, existsSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeCodeCache } from '../../base/disk/code-cache.ts';
import { unpackTar } from '../../base/disk/tar.ts';

/**
 * Unpacks the archive into a folder of the cache, unless that folder exists. The folder is made beside its place, synced and renamed, so no
 * process finds a part of it. Later starts do not check its files, which only the user and root can change.
 *
 * @param name of the folder, which no other content has
 * @throws an Error when the cache is of another user or others may change it: its files are code
 */
export function unpackOnce(archive: () => Buffer, cache: string, name: string): string {
  makeCodeCache(cache);
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  const temporary = mkdtempSync(`${folder}.`);
  try {
    for (const path of unpackTar(archive(), temporary)) sync(path);
    renameSync(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}
