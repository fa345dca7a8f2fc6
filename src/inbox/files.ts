import { chmod, lstat, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../disk/files.ts';
import { usageError } from '../errors.ts';
import { hashFile } from '../manifest/stage.ts';
import { onDisk } from '../system-error.ts';

/** Moves a file. @returns false when it does not exist */
export async function moved(from: string, to: string): Promise<boolean> {
  return onDisk(from, async () => (await ifThere(rename(from, to).then(() => true))) ?? false);
}

/** The SHA-256 of a file. @returns undefined when it does not exist */
export async function digestOf(path: string): Promise<string | undefined> {
  return onDisk(path, async () => (await ifThere(hashFile(path)))?.sha256);
}

export async function isFolderAt(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

/**
 * A folder of an inbox, created if missing: users clear such folders away. It gets the permissions of the inbox, so that users
 * who add manifests see the results.
 *
 * @throws what `refuseLink` throws
 */
export async function folderOf(inbox: string, name: string): Promise<string> {
  const folder = join(inbox, name);
  await refuseLink(folder);
  await onDisk(folder, async () => {
    const isNew = (await mkdir(folder, { recursive: true })) !== undefined;
    if (isNew) await chmod(folder, (await stat(inbox)).mode & 0o7777);
  });
  return folder;
}

/**
 * Refuses a link in place of an inbox's folder: through it, any user of the inbox could redirect manifests and results.
 *
 * @throws a usage error `INBOX_UNUSABLE`
 */
export async function refuseLink(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isSymbolicLink())
    throw usageError(
      'INBOX_UNUSABLE',
      `${folder} is a symbolic link, and manifests are moved only within their inbox: remove the link.`,
    );
}

/** Writes a file beside a manifest, readable by the readers of the manifest. */
export async function putBeside(
  manifest: string,
  path: string,
  write: (path: string) => Promise<void>,
): Promise<void> {
  await onDisk(path, () => write(path));
  const found = await stat(manifest).catch(() => undefined);
  if (found !== undefined) await onDisk(path, () => chmod(path, found.mode & 0o666));
}
