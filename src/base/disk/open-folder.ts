import { constants, existsSync, type Stats } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A folder that stays the same while it is used. By its path, another user who may write its parent could exchange it for a link between a
 * check and a write, and so redirect the write.
 */
export interface OpenFolder {
  /** The path of a file in the folder, while the folder is open. */
  pathOf(name: string): string;
  stat(): Promise<Stats>;
}

const ownDescriptors = '/proc/self/fd';

/** Whether another user can't exchange an open folder. Only Linux finds files below a descriptor by a path. */
export const pinsFolders = process.platform === 'linux' && existsSync(ownDescriptors);

/**
 * Uses a folder, but no link to one, unless `followsLink`.
 *
 * @throws the error of the system
 */
export async function withFolder<Result>(
  path: string,
  work: (folder: OpenFolder) => Promise<Result>,
  { followsLink = false } = {},
): Promise<Result> {
  if (!pinsFolders) return work({ pathOf: (name) => join(path, name), stat: () => lstat(path) });
  const folder = await open(path, constants.O_DIRECTORY | (followsLink ? 0 : constants.O_NOFOLLOW));
  try {
    return await work({
      pathOf: (name) => join(ownDescriptors, String(folder.fd), name),
      stat: () => folder.stat(),
    });
  } finally {
    await folder.close();
  }
}
