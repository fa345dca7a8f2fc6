import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../../disk/files.ts';
import { readJsonFile } from '../../disk/json-file.ts';
import { bootId } from '../../disk/process.ts';
import { onDisk } from '../../system-error.ts';
import type { Session } from './session.ts';

/*
 * The name of what the embedded datastore holds. It is kept inside the datastore and in a file beside its folder; while
 * both agree, and the files are those that were written last, the datastore is in its latest state.
 */

const recordSchema = z.object({
  name: z.string(),
  /** The start of the system: its files are not synced, so the next one may find an earlier state of them. */
  boot: z.string(),
  /** The state folder: when it is another one, everything in it was moved together. */
  home: z.string(),
  /** `PG_VERSION`, which is never written again: copying over it changes its time, replacing it its number. */
  version: z.string(),
  /** `pg_control`, which is never replaced but by a tool that copies only what differs. */
  control: z.string(),
});

/** What tells these files from copies of them. */
type FileIdentity = Omit<z.infer<typeof recordSchema>, 'name'>;

/** @returns undefined when there is no datastore yet. */
export async function readFileIdentity(folder: string): Promise<FileIdentity | undefined> {
  const paths = [dirname(folder), join(folder, 'PG_VERSION'), join(folder, 'global', 'pg_control')];
  const found = await onDisk(folder, () =>
    Promise.all(paths.map((path) => stat(path, { bigint: true }))).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    }),
  );
  if (found === undefined) return undefined;
  const [home, version, control] = found;
  return {
    boot: bootId() ?? '',
    home: String(home?.ino),
    version: `${version?.ino} ${version?.ctimeNs}`,
    control: String(control?.ino),
  };
}

/**
 * Finds out whether the datastore is in its latest state. If not, because it is new, an earlier copy of it was put in its
 * place, or the system was started since, then what it holds may have been called since: it is emptied, and gets another
 * name. A journal that was fed to the former one takes the rows for lost.
 *
 * @param before what it was before it was opened.
 */
export async function openEpoch(session: Session, folder: string, before: FileIdentity | undefined) {
  const file = `${folder}.epoch.json`;
  const read = () => session.query('SELECT name FROM public.epoch');
  const made = async () => {
    await session.query('CREATE TABLE IF NOT EXISTS public.epoch (name text)');
    return read();
  };
  // Folders of earlier builds lack the table.
  const [kept] = (await read().catch(made)).rows;
  const record = await readJsonFile(file, recordSchema, () => undefined);
  const isLatest = record !== undefined && kept?.['name'] === record.name && agree(record, before);
  let name = isLatest ? record.name : '';

  const draw = async (): Promise<void> => {
    name = randomBytes(8).toString('hex');
    await session.query('WITH former AS (DELETE FROM public.epoch) INSERT INTO public.epoch VALUES ($1)', [
      name,
    ]);
  };
  const save = async (): Promise<void> => {
    await writeFileAtomically(file, `${JSON.stringify({ name, ...(await readFileIdentity(folder)) })}\n`);
  };

  if (!isLatest) {
    // A new one is empty as it is.
    if (before !== undefined) await session.query('DROP SCHEMA IF EXISTS bullmq CASCADE');
    await draw();
  }
  await save();
  return {
    /** Undefined where the system does not tell one of its starts from another. */
    get name(): string | undefined {
      return bootId() === undefined ? undefined : name;
    },
    /** Draws another name. */
    async renew(): Promise<void> {
      await draw();
      await save();
    },
  };
}

function agree(then: FileIdentity, now: FileIdentity | undefined): boolean {
  if (now === undefined || then.boot !== now.boot) return false;
  return then.home !== now.home || (then.version === now.version && then.control === now.control);
}
