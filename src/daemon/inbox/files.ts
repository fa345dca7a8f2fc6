import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere, makeFolderLikeParent, replaceFile } from '../../base/disk/files.ts';
import { hashFile } from '../../base/disk/hash-file.ts';
import { FileTooLargeError, NotAFileError } from '../../base/disk/open-file.ts';
import { type OpenFolder, withFolder } from '../../base/disk/open-folder.ts';
import { usageError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { uniqueName } from '../../base/text/unique-name.ts';

/** A file in an open folder, and its path for messages. */
export interface PlacedFile {
  readonly at: string;
  readonly path: string;
}

export interface InboxFolder {
  file(name: string): PlacedFile;
}

function placed(folder: OpenFolder, path: string): InboxFolder {
  return { file: (name) => ({ at: folder.pathOf(name), path: join(path, name) }) };
}

/**
 * Uses an inbox and one of its folders, which other users can't exchange meanwhile. Makes the folder again if users have removed it, with
 * the permissions of the inbox, so that its users see the results.
 *
 * @throws a usage error `INBOX_UNUSABLE` if the folder is a link: through it, any user of the inbox could redirect manifests and results
 */
export function inInbox<Result>(
  inbox: string,
  name: string,
  work: (folder: InboxFolder, inbox: InboxFolder) => Promise<Result>,
): Promise<Result> {
  const path = join(inbox, name);
  const inOpen = async (whole: OpenFolder): Promise<Result> => {
    const at = whole.pathOf(name);
    await onDisk(path, async () => {
      if ((await ifThere(lstat(at)))?.isSymbolicLink()) throw redirecting(path);
      await makeFolderLikeParent(at);
    });
    return openedOnDisk(path, at, false, (folder) => work(placed(folder, path), placed(whole, inbox)));
  };
  return openedOnDisk(inbox, inbox, true, inOpen);
}

/** Explains only the failure to open the folder as one of this folder. */
export async function openedOnDisk<Result>(
  path: string,
  at: string,
  followsLink: boolean,
  work: (folder: OpenFolder) => Promise<Result>,
): Promise<Result> {
  let isOpen = false;
  const opened = (folder: OpenFolder): Promise<Result> => {
    isOpen = true;
    return work(folder);
  };
  return withFolder(at, opened, { followsLink }).catch((error: unknown) => {
    if (isOpen) throw error;
    return onDisk(path, () => Promise.reject(error));
  });
}

function redirecting(path: string): Error {
  return usageError(
    'INBOX_UNUSABLE',
    `${path} is a symbolic link, and manifests are moved only within their inbox: remove the link.`,
  );
}

export async function moved(from: PlacedFile, to: PlacedFile): Promise<boolean> {
  return onDisk(from.path, async () => (await ifThere(rename(from.at, to.at).then(() => true))) ?? false);
}

/** Moves a file of `running/` to the inbox, where it waits again, perhaps under another name. */
export function putBack(inbox: string, file: string, name: string): Promise<boolean> {
  return inInbox(inbox, 'running', async (running, whole) => {
    const isFree = (await ifThere(lstat(whole.file(name).at))) === undefined;
    return moved(running.file(file), whole.file(isFree ? name : uniqueName(name, randomUUID())));
  });
}

/** The content of a file. Undefined if there is no regular file. */
export type FileContent = { readonly sha256: string } | 'too large' | undefined;

/** @param mostBytes of a file that is read */
export async function contentOf({ at, path }: PlacedFile, mostBytes: number): Promise<FileContent> {
  return onDisk(path, async () => {
    try {
      return await ifThere(hashFile(at, { flags: constants.O_NOFOLLOW, mostBytes }));
    } catch (error) {
      if (error instanceof FileTooLargeError) return 'too large';
      if (error instanceof NotAFileError || (error as NodeJS.ErrnoException).code === 'ELOOP')
        return undefined;
      throw error;
    }
  });
}

/** Writes a file that the users who may read the manifest may read. */
export async function putBeside(
  manifest: PlacedFile,
  { at, path }: PlacedFile,
  content: string | AsyncIterable<Buffer>,
): Promise<void> {
  const found = await onDisk(manifest.path, () => ifThere(lstat(manifest.at)));
  await onDisk(path, () => replaceFile(at, content, found?.isFile() ? found.mode & 0o666 : 0o600));
}

export async function isFolderAt(path: string): Promise<boolean> {
  const found = await onDisk(path, () => ifThere(stat(path)));
  return found?.isDirectory() === true;
}
