import { open, rename, rm } from 'node:fs/promises';
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
