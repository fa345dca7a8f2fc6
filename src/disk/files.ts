import { chmod, lstat, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemError } from '../system-error.ts';

/** Files and folders that only their owner may use. */

/** Whether the path exists, as far as this process may see. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The value of work on a file or folder; undefined when that does not exist. */
export function ifThere<Value>(work: Promise<Value>): Promise<Value | undefined> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * Writes a whole file or nothing: a temporary file beside it is synced and renamed.
 *
 * @param mode who may read it, whatever the umask. Default: only its owner
 * @throws a `SystemError` when the system refuses
 */
export async function writeFileAtomically(path: string, text: string, mode = 0o600): Promise<void> {
  try {
    await replaceFile(path, text, mode);
  } catch (error) {
    throw systemError(error, path) ?? error;
  }
}

/**
 * Like `writeFileAtomically`, for a text in parts.
 *
 * @throws the error of the system
 */
export async function replaceFile(
  path: string,
  text: string | readonly string[],
  mode = 0o600,
): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      if (mode !== 0o600) await file.chmod(mode);
      for (const part of typeof text === 'string' ? [text] : text) await file.writeFile(part);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** The most bytes of a text that a user writes by hand, or has a program write for one purpose. */
const mostBytes = 1_000_000;

/**
 * Reads the text of a small file. A device could be read without end, and a pipe only once.
 *
 * @throws the error of the system, or an Error whose message ends the sentence "Can't read …:"
 */
export async function readSmallFile(path: string): Promise<string> {
  const found = await stat(path);
  if (!found.isFile() && !found.isDirectory())
    throw new Error(`it is a ${found.isFIFO() ? 'pipe' : 'device'}, not a file`);
  const file = await open(path);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, end: mostBytes })) {
      chunks.push(chunk);
      bytes += chunk.length;
    }
    if (bytes > mostBytes) throw new Error('it is larger than 1 MB');
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    await file.close();
  }
}

/**
 * Makes a folder and its missing parents, for their owner only.
 *
 * @throws a `SystemError` when the system refuses
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw systemError(await realReason(path), path) ?? error;
  }
}

/** Why a folder can't be made. Node says "no such file" for several causes. */
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

/** The rights of the group and of other users. */
const rightsOfOthers = 0o077;
const othersMayWrite = 0o022;
/** Windows has no such rights. */
const hasModes = process.platform !== 'win32';

/**
 * Closes a file or folder, with all its content, to everyone but its owner. Leaves alone paths that do not exist or belong to
 * another user, and the targets of symbolic links.
 */
export async function makePrivate(path: string): Promise<void> {
  const found = hasModes ? await lstat(path).catch(() => undefined) : undefined;
  if (found === undefined || found.isSymbolicLink()) return;
  if ((found.mode & rightsOfOthers) !== 0) await chmod(path, found.mode & 0o7700).catch(() => {});
  if (!found.isDirectory()) return;
  const names = await readdir(path).catch(() => []);
  await Promise.all(names.map((name) => makePrivate(join(path, name))));
}

/** Like `makePrivate`, if the path itself is open to others: they can't reach the content of a closed folder. */
export async function closeIfOpen(path: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  if (await isOpenToOthers(target)) await makePrivate(target);
}

/** Whether others than its owner may use a file or folder, judged by its own rights. */
export function isOpenToOthers(path: string): Promise<boolean> {
  return has(path, rightsOfOthers);
}

/** Whether other users may add, remove and rename entries of a folder. */
export function isWritableByOthers(folder: string): Promise<boolean> {
  return has(folder, othersMayWrite);
}

async function has(path: string, rights: number): Promise<boolean> {
  const found = hasModes ? await stat(path).catch(() => undefined) : undefined;
  return found !== undefined && (found.mode & rights) !== 0;
}
