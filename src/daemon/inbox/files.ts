import { constants } from 'node:fs';
import { lstat, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, makeFolderLikeParent, whyForeign, writeFileAtomically } from '../../base/disk/files.ts';
import { hashFile } from '../../base/disk/hash-file.ts';
import { usageError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { shellWord } from '../../base/text/shell-word.ts';

export async function moved(from: string, to: string): Promise<boolean> {
  return onDisk(from, async () => (await ifThere(rename(from, to).then(() => true))) ?? false);
}

/** Undefined if the file does not exist, or a link has replaced it. */
export async function digestOf(path: string): Promise<string | undefined> {
  return onDisk(path, async () => {
    try {
      return (await ifThere(hashFile(path, { flags: constants.O_NOFOLLOW })))?.sha256;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ELOOP') return undefined;
      throw error;
    }
  });
}

export async function isFolderAt(path: string): Promise<boolean> {
  const found = await onDisk(path, () => ifThere(stat(path)));
  return found?.isDirectory() === true;
}

/**
 * A folder of an inbox, made again if users have removed it, with the permissions of the inbox, so that its users see the results.
 *
 * @throws what `refuseLink` throws
 */
export async function folderOf(inbox: string, name: string): Promise<string> {
  const folder = join(inbox, name);
  await refuseLink(folder);
  await onDisk(folder, () => makeFolderLikeParent(folder));
  return folder;
}

/**
 * Through a link in place of an inbox's folder, any user of the inbox could redirect manifests and results.
 *
 * @throws a usage error `INBOX_UNUSABLE`
 */
export async function refuseLink(folder: string): Promise<void> {
  const found = await onDisk(folder, () => ifThere(lstat(folder)));
  if (found?.isSymbolicLink())
    throw usageError(
      'INBOX_UNUSABLE',
      `${folder} is a symbolic link, and manifests are moved only within their inbox: remove the link.`,
    );
}

/**
 * Records decide what runs again, so another user must not own or change them.
 *
 * @throws a usage error `INBOX_UNUSABLE`
 */
export async function refuseForeign(path: string): Promise<void> {
  const why = await onDisk(path, () => whyForeign(path));
  if (why === undefined) return;
  const folder = shellWord(path);
  throw usageError(
    'INBOX_UNUSABLE',
    `${escapeInvisible(path)} ${why}, so its records prove nothing. Look who has changed it; if its content is right, type: ` +
      `chown -R "$(id -un)" ${folder} && chmod -R go-w ${folder}`,
  );
}

export async function putBeside(
  manifest: string,
  path: string,
  content: string | AsyncIterable<Buffer>,
): Promise<void> {
  const found = await onDisk(manifest, () => ifThere(lstat(manifest)));
  await writeFileAtomically(path, content, found?.isFile() ? found.mode & 0o666 : 0o600);
}
