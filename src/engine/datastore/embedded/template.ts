import { truncateSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ifThere } from '../../../base/disk/files.ts';
import { unpackTar } from '../../../base/disk/tar.ts';
import { packageRoot } from '../../../base/package.ts';

/** A new database, made by the build: unpacking is much faster than letting PostgreSQL create it. */
export const templateFile = fileURLToPath(new URL('dist/template.tar', packageRoot));

/** The archive has one log file, cut after its used part. */
const logFileBytes = 16 * 1024 * 1024;

/**
 * A crash leaves no half of the database, which is created beside its place and renamed.
 *
 * @throws when the folder has other files: PGlite would create a new database among them
 */
export async function ensureDatabase(folder: string): Promise<void> {
  const files = await ifThere(readdir(folder));
  if (files?.length) {
    if (!files.includes('PG_VERSION'))
      throw new Error('the database in it is damaged: PG_VERSION is missing');
    return;
  }
  // The root of a volume can't be replaced: let PGlite create its database there.
  if (files !== undefined && !(await removeIfEmptyFolder(folder))) return;
  const temporary = `${folder}.new`;
  await rm(temporary, { recursive: true, force: true });
  try {
    await mkdir(temporary, { mode: 0o700 });
    for (const path of unpackTar(await readFile(templateFile), temporary))
      if (/pg_wal.[0-9A-F]{24}$/.test(path)) truncateSync(path, logFileBytes);
    await rename(temporary, folder);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

function removeIfEmptyFolder(emptyFolder: string): Promise<boolean> {
  return rmdir(emptyFolder).then(
    () => true,
    () => false,
  );
}
