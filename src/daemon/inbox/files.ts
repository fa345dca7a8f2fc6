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
  readonly openPath: string;
  readonly path: string;
}

export interface InboxFolder {
  file(name: string): PlacedFile;
}

function inboxFolderOf(folder: OpenFolder, path: string): InboxFolder {
  return { file: (name) => ({ openPath: folder.pathOf(name), path: join(path, name) }) };
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
      if ((await ifThere(lstat(at)))?.isSymbolicLink()) throw linkedFolderError(path);
      await makeFolderLikeParent(at);
    });
    return withFolderOnDisk(path, at, false, (folder) =>
      work(inboxFolderOf(folder, path), inboxFolderOf(whole, inbox)),
    );
  };
  return withFolderOnDisk(inbox, inbox, true, inOpen);
}

/** Explains only the failure to open the folder as one of this folder. */
export async function withFolderOnDisk<Result>(
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

function linkedFolderError(path: string): Error {
  return usageError(
    'INBOX_UNUSABLE',
    `${path} is a symbolic link, and manifests are moved only within their inbox: remove the link.`,
  );
}

export async function moveIfThere(from: PlacedFile, to: PlacedFile): Promise<boolean> {
  return onDisk(
    from.path,
    async () => (await ifThere(rename(from.openPath, to.openPath).then(() => true))) ?? false,
  );
}

/** Moves a file of `running/` to the inbox, where it waits again, perhaps under another name. */
export function putBack(inbox: string, file: string, name: string): Promise<boolean> {
  return inInbox(inbox, 'running', async (running, whole) => {
    const isFree = (await ifThere(lstat(whole.file(name).openPath))) === undefined;
    return moveIfThere(running.file(file), whole.file(isFree ? name : uniqueName(name, randomUUID())));
  });
}

/** The content of a file. Undefined if there is no regular file. */
export type FileContent = { readonly sha256: string } | 'too large' | undefined;

/** @param mostBytes of a file that is read */
export async function contentOf({ openPath, path }: PlacedFile, mostBytes: number): Promise<FileContent> {
  return onDisk(path, async () => {
    try {
      return await ifThere(hashFile(openPath, { flags: constants.O_NOFOLLOW, mostBytes }));
    } catch (error) {
      if (error instanceof FileTooLargeError) return 'too large';
      if (error instanceof NotAFileError || (error as NodeJS.ErrnoException).code === 'ELOOP')
        return undefined;
      throw error;
    }
  });
}

/** Writes a file that the users who may read the manifest may read. */
export async function writeBesideManifest(
  manifest: PlacedFile,
  { openPath, path }: PlacedFile,
  content: string | AsyncIterable<Buffer>,
): Promise<void> {
  const found = await onDisk(manifest.path, () => ifThere(lstat(manifest.openPath)));
  await onDisk(path, () => replaceFile(openPath, content, found?.isFile() ? found.mode & 0o666 : 0o600));
}

export async function isFolderAt(path: string): Promise<boolean> {
  const found = await onDisk(path, () => ifThere(stat(path)));
  return found?.isDirectory() === true;
}
