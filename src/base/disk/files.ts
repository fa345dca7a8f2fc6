import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { turnsByKey } from '../async/waiting.ts';
import { onDisk, SystemError, systemError } from '../errors/system-error.ts';

/** What the system says of a path. Undefined if the path does not exist, or this process may not look. */
export function statIfAny(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined);
}

/** Whether something exists at a path. False, too, if this process may not look. */
export async function exists(path: string): Promise<boolean> {
  return (await statIfAny(path)) !== undefined;
}

/** Ignores errors: the user hears of the failure that left the file. */
export async function removeIfPossible(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => {});
}

export function ifThere<Value>(work: Promise<Value>): Promise<Value | undefined> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

type Content = string | Iterable<string> | AsyncIterable<string | Uint8Array>;

/** Moves a temporary file beside the path to `place`. Another user can't have taken its random name with a link. */
async function withNewFile<Result>(
  path: string,
  content: Content,
  mode: number,
  place: (temporary: string) => Promise<Result>,
): Promise<Result> {
  // The name of the file itself may be as long as the system allows.
  const temporary = join(dirname(path), `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      if (mode !== 0o600) await file.chmod(mode);
      await writeFile(file, content);
      await file.sync();
    } finally {
      await file.close();
    }
    return await place(temporary);
  } finally {
    await removeIfPossible(temporary);
  }
}

const writeInTurn = turnsByKey();

/**
 * Writes a whole file or nothing: syncs a new file beside it and renames it. Follows no link. Writes of this process to one path keep the
 * order of the calls; other processes do not disturb them.
 *
 * @param mode not changed by the umask. Default: only the owner
 * @throws the error of the system
 */
export function replaceFile(path: string, content: Content, mode = 0o600): Promise<void> {
  return writeInTurn(resolve(path), () =>
    withNewFile(path, content, mode, (temporary) => rename(temporary, path)),
  );
}

/**
 * Like `replaceFile`.
 *
 * @throws a `SystemError` when the system refuses
 */
export function writeFileAtomically(path: string, content: Content, mode?: number): Promise<void> {
  return onDisk(path, () => replaceFile(path, content, mode));
}

/**
 * Writes a whole file for its owner only, unless something exists at the path, even a link. Returns whether it was written.
 *
 * @throws the error of the system
 */
export function createFile(path: string, content: Content): Promise<boolean> {
  return withNewFile(path, content, 0o600, async (temporary) => {
    try {
      // Unlike a rename, a link never replaces a file.
      await link(temporary, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  });
}

const foundFolders = new Set<string>();

export async function removeIfEmpty(path: string): Promise<void> {
  await rmdir(path).then(
    () => foundFolders.delete(resolve(path)),
    () => {},
  );
}

/**
 * Makes a folder and its parents for their owner only. If a folder that this process has found is gone, its disk is probably unmounted, and
 * a new folder would hide the old content.
 *
 * @throws a `SystemError` when the system refuses, or the folder has gone
 */
export async function makeFolder(path: string): Promise<void> {
  if (foundFolders.has(resolve(path))) {
    if ((await onDisk(path, () => ifThere(stat(path)))) !== undefined) return;
    const what = `${path} has gone since this process found it`;
    throw new SystemError('FILE_MISSING', what, 'mount it or put it back', undefined);
  }
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    foundFolders.add(resolve(path));
  } catch (error) {
    throw systemError(await realReason(path), path) ?? error;
  }
}

/** Gives a new folder the rights of its parent, which must exist. */
export async function makeFolderLikeParent(path: string): Promise<void> {
  const isNew = await mkdir(path, { mode: 0o700 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  if (!isNew || !hasModes) return;
  // Not `chmod`: another user may have replaced the folder with a link.
  const folder = await open(path, constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    await folder.chmod((await stat(dirname(path))).mode & 0o7777);
  } finally {
    await folder.close();
  }
}

/** Why a folder, or the first missing one above it, can't be made. Node reports several causes as "no such file". */
async function realReason(path: string): Promise<unknown> {
  try {
    await mkdir(path, { mode: 0o700 });
    return undefined;
  } catch (error) {
    const above = dirname(path);
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && above !== path;
    return isMissing ? realReason(above) : error;
  }
}

const rightsOfOthers = 0o077;
const othersMayWrite = 0o022;
const hasModes = process.platform !== 'win32';

/**
 * Closes a file or folder, with its content, to everyone but its owner. Leaves alone missing paths, those of other users, and targets of
 * symbolic links.
 */
export async function makePrivate(path: string): Promise<void> {
  const found = hasModes ? await ifThere(lstat(path)) : undefined;
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & rightsOfOthers) !== 0) await chmod(path, found.mode & 0o7700).catch(() => {});
  if (!found.isDirectory()) return;
  const names = await readdir(path).catch(() => []);
  await Promise.all(names.map((name) => makePrivate(join(path, name))));
}

/** Closes a folder that other users can enter. Follows links: in a closed folder, other users can't reach the content. */
export async function closeIfOpen(path: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  if (await isOpenToOthers(target)) await makePrivate(target);
}

/** Whether other users can use a file or folder, by its own rights, not by those of its parents. */
export function isOpenToOthers(path: string): Promise<boolean> {
  return hasRights(path, rightsOfOthers);
}

export function isWritableByOthers(folder: string): Promise<boolean> {
  return hasRights(folder, othersMayWrite);
}

async function hasRights(path: string, rights: number): Promise<boolean> {
  const found = hasModes ? await onDisk(path, () => ifThere(stat(path))) : undefined;
  return found !== undefined && (found.mode & rights) !== 0;
}

/**
 * Why a user other than this one or root may change a file or folder, to end a sentence that begins with its name. Undefined if none may,
 * or the path does not exist.
 */
export async function whyForeign(path: string): Promise<string | undefined> {
  const found = await ifThere(lstat(path));
  return found && whyForeignStats(found);
}

/** Why a user other than this one or root may change what is open, in the words of `whyForeign`. */
export function whyForeignStats(found: Stats): string | undefined {
  if (found.isSymbolicLink()) return 'is a symbolic link';
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  if (found.uid !== user && found.uid !== 0) return `belongs to another user (uid ${found.uid})`;
  return (found.mode & othersMayWrite) === 0 ? undefined : 'may be changed by other users';
}
