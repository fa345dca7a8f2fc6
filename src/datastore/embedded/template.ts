import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { extract } from 'tar';
import { ifThere } from '../../disk/files.ts';
import { packageRoot } from '../../package.ts';

/**
 * A new database as an archive, made when the project is built: unpacking it takes a tenth of the time that PostgreSQL
 * takes to make one.
 */
export const templateFile = fileURLToPath(new URL('dist/template.tar.gz', packageRoot));

/**
 * Makes the database when there is none: beside its place first, so that a crash leaves no half of it.
 *
 * @throws an error when there are other files in its place: PGlite would make a new database among them.
 */
export async function ensureDatabase(folder: string): Promise<void> {
  const files = await ifThere(readdir(folder));
  if (files?.length) {
    if (!files.includes('PG_VERSION'))
      throw new Error('the database in it is damaged: PG_VERSION is missing');
    return;
  }
  // The root of a volume can't be replaced: there, PGlite makes its database from scratch.
  if (files !== undefined && !(await removed(folder))) return;
  const temporary = `${folder}.new`;
  await rm(temporary, { recursive: true, force: true });
  try {
    await mkdir(temporary);
    // Without `strict`, what can't be written is left out in silence.
    extract({ file: templateFile, cwd: temporary, sync: true, strict: true });
    await rename(temporary, folder);
  } catch (error) {
    // On a full disk, half of it would only be in the way.
    await rm(temporary, { recursive: true, force: true });
    // What node-tar throws holds streams, which a thread can't hand over.
    const { message, code } = error as NodeJS.ErrnoException;
    throw Object.assign(new Error(message), { code });
  }
}

function removed(emptyFolder: string): Promise<boolean> {
  return rmdir(emptyFolder).then(
    () => true,
    () => false,
  );
}
