import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemError } from './system-error.ts';

/**
 * Writes a whole file or nothing: a temporary file beside it is synced and renamed. Readable by its owner only.
 *
 * @throws a `SystemError` when the system refuses.
 */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw systemError(error, path) ?? error;
  }
}

/**
 * Makes a folder, and those above it that are missing, for its owner only.
 *
 * @throws a `SystemError` when the system refuses.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw systemError(await realReason(path), path) ?? error;
  }
}

/** Why a folder can't be made. Node says "no such file" of several at once, whatever it is that is in their way. */
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
