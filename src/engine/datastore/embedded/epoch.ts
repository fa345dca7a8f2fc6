import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../../base/disk/files.ts';
import { readJsonFile } from '../../../base/disk/json-file.ts';
import { bootId } from '../../../base/disk/process.ts';
import { onDisk } from '../../../base/errors/system-error.ts';
import type { DatabaseConnection } from './connection.ts';

/**
 * The epoch is stored inside the datastore and in a file beside its folder. If both agree, and the database files are the last written
 * ones, the datastore is in its latest state.
 */

const recordSchema = z.object({
  name: z.string(),
  /** Files are not synced, so a crash of the system may restore an earlier state. */
  boot: z.string(),
  /** The id of the state folder: if it differs, the whole folder was moved. */
  home: z.string(),
  /** `PG_VERSION` is never rewritten: copying over it changes its time, replacing it its inode number. */
  version: z.string(),
  /** Only a tool that copies differences replaces `pg_control`. */
  control: z.string(),
});

type FileIdentity = Omit<z.infer<typeof recordSchema>, 'name'>;

/** @returns undefined without a datastore */
export async function readFileIdentity(folder: string): Promise<FileIdentity | undefined> {
  const paths = [dirname(folder), join(folder, 'PG_VERSION'), join(folder, 'global', 'pg_control')];
  const stats = await onDisk(folder, () =>
    Promise.all(paths.map((path) => stat(path, { bigint: true }))).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    }),
  );
  if (stats === undefined) return undefined;
  const [home, version, control] = stats;
  return {
    boot: bootId() ?? '',
    home: String(home?.ino),
    version: `${version?.ino} ${version?.ctimeNs}`,
    control: String(control?.ino),
  };
}

/**
 * Empties a datastore that is not in its latest state (new, replaced by a copy, or the system was restarted), because its rows may have
 * been called since. A journal that fed rows to the former epoch treats them as lost.
 *
 * @param filesBefore the files before the database was opened
 */
export async function openEpoch(
  session: DatabaseConnection,
  folder: string,
  filesBefore: FileIdentity | undefined,
) {
  const file = `${folder}.epoch.json`;
  const read = () => session.query('SELECT name FROM public.epoch');
  const createTable = async () => {
    await session.query('CREATE TABLE IF NOT EXISTS public.epoch (name text)');
    return read();
  };
  // Folders of earlier builds lack the table.
  const [stored] = (await read().catch(createTable)).rows;
  const record = await readJsonFile(file, recordSchema, () => undefined);
  const isLatest = record !== undefined && stored?.['name'] === record.name && agree(record, filesBefore);
  let name = isLatest ? record.name : '';

  const drawName = async (): Promise<void> => {
    name = randomBytes(8).toString('hex');
    await session.query('WITH former AS (DELETE FROM public.epoch) INSERT INTO public.epoch VALUES ($1)', [
      name,
    ]);
  };
  const save = async (): Promise<void> => {
    await writeFileAtomically(file, `${JSON.stringify({ name, ...(await readFileIdentity(folder)) })}\n`);
  };

  if (!isLatest) {
    // A new datastore is already empty.
    if (filesBefore !== undefined) await session.query('DROP SCHEMA IF EXISTS bullmq CASCADE');
    await drawName();
  }
  await save();
  return {
    /** The name of the epoch. Undefined where the system has no boot id. */
    get name(): string | undefined {
      return bootId() === undefined ? undefined : name;
    },
    async renew(): Promise<void> {
      await drawName();
      await save();
    },
  };
}

function agree(saved: FileIdentity, current: FileIdentity | undefined): boolean {
  if (current === undefined || saved.boot !== current.boot) return false;
  const isInPlace = saved.version === current.version && saved.control === current.control;
  return saved.home !== current.home || isInPlace;
}
