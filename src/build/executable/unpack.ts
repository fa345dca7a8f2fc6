import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { unpackTar } from '../../base/disk/tar.ts';

const othersMayWrite = 0o022;

/**
 * Unpacks the archive into a folder of the cache, unless that folder exists. The folder is made beside its place, synced and renamed, so no
 * process finds a part of it. Later starts do not check its files, which only the user and root can change.
 *
 * @param name of the folder, which no other content has
 * @throws an Error when the cache is of another user or others may change it: its files are code
 */
export function unpackOnce(archive: () => Buffer, cache: string, name: string): string {
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const found = lstatSync(cache);
  if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & othersMayWrite) !== 0)
    throw new Error(`${cache} must be a folder of yours that no other user may change`);
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
