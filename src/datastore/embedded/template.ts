import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ifThere } from '../../disk/files.ts';
import { packageRoot } from '../../package.ts';

/**
 * A new database as an archive, made when the project is built: unpacking it takes a twentieth of the time that PostgreSQL
 * takes to make one.
 */
export const templateFile = fileURLToPath(new URL('dist/template.tar', packageRoot));

/** PostgreSQL's log is in files of that size. In the archive there is one, with nothing but what is written. */
const logFileBytes = 16 * 1024 * 1024;

/**
 * Makes the database when it is missing: beside its place first, so that a crash leaves no half of it.
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
    await mkdir(temporary, { mode: 0o700 });
    unpack(await readFile(templateFile), temporary);
    await rename(temporary, folder);
  } catch (error) {
    // On a full disk, half of it would only be in the way.
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

/** Unpacks the folders and files of a tar archive: each has a header of 512 bytes, and is filled up to a multiple of that. */
function unpack(archive: Buffer, into: string): void {
  for (let at = 0; archive[at] !== 0; ) {
    const field = (from: number, to: number): string =>
      archive.toString('latin1', at + from, at + to).replace(/\0.*/s, '');
    const path = join(into, field(0, 100));
    const bytes = Number.parseInt(field(124, 136), 8);
    if (field(156, 157) === '5') mkdirSync(path, { recursive: true, mode: 0o700 });
    else writeFileSync(path, archive.subarray(at + 512, at + 512 + bytes), { mode: 0o600 });
    if (/pg_wal.[0-9A-F]{24}$/.test(path)) truncateSync(path, logFileBytes);
    at += 512 + 512 * Math.ceil(bytes / 512);
  }
}

function removed(emptyFolder: string): Promise<boolean> {
  return rmdir(emptyFolder).then(
    () => true,
    () => false,
  );
}
