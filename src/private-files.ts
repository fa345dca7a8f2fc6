import { chmod, lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Rights that a group or everybody has. */
const rightsOfOthers = 0o077;
const othersMayWrite = 0o022;
/** Windows has no such rights. */
const hasModes = process.platform !== 'win32';

/**
 * Takes a file or folder, with all that is in it, away from everybody but its owner. What is not there, or belongs to
 * another user, is left as it is, and so is what symbolic links in it lead to.
 */
export async function makePrivate(path: string): Promise<void> {
  const found = hasModes ? await lstat(path).catch(() => undefined) : undefined;
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & rightsOfOthers) !== 0) await chmod(path, found.mode & 0o7700).catch(() => {});
  if (!found.isDirectory()) return;
  const names = await readdir(path).catch(() => []);
  await Promise.all(names.map((name) => makePrivate(join(path, name))));
}

/** The same only where the path itself is open to others: what is in a closed folder is out of their reach anyway. */
export async function closeIfOpen(path: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  if (await has(target, rightsOfOthers)) await makePrivate(target);
}

/** Whether other users may add, remove and rename what is in a folder. */
export function isWritableByOthers(folder: string): Promise<boolean> {
  return has(folder, othersMayWrite);
}

async function has(path: string, rights: number): Promise<boolean> {
  const found = hasModes ? await stat(path).catch(() => undefined) : undefined;
  return found !== undefined && (found.mode & rights) !== 0;
}
