import { access, rename } from 'node:fs/promises';
import { hashFile } from '../manifest/stage.ts';
import { onDisk } from '../system-error.ts';

/** Moves a file. @returns false when it is not there. */
export async function moved(from: string, to: string): Promise<boolean> {
  return onDisk(from, () =>
    rename(from, to).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false;
        throw error;
      },
    ),
  );
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The SHA-256 of a file. @returns undefined when it is not there. */
export async function digestOf(path: string): Promise<string | undefined> {
  return onDisk(path, () =>
    hashFile(path).then(
      ({ sha256 }) => sha256,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      },
    ),
  );
}
