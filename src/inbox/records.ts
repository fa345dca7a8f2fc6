import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../disk/files.ts';
import { readJsonFile, writeJsonFile } from '../disk/json-file.ts';
import { fatalError } from '../errors.ts';
import { onDisk } from '../system-error.ts';
import { refuseLink } from './files.ts';

/** Where a manifest goes when it is finished. */
export const finalFolders = ['done', 'partial', 'failed'] as const;

export type FinalFolder = (typeof finalFolders)[number];

const fileName = z.string().refine((name) => name !== '' && name === basename(name));

/** A manifest that was taken out of an inbox. */
const takenSchema = z.object({
  version: z.literal(1),
  /** What it was called in the inbox. */
  name: fileName,
  /** Its name in `running/`, and later in `done/`, `partial/` or `failed/`. */
  file: fileName,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  run: z.string(),
  /** Which state folder has the run. */
  state_id: z.string(),
  /** The user who took it, for people. */
  user: z.string(),
  host: z.string(),
  taken_at: z.string(),
});

/** A manifest whose run has ended. */
const endedSchema = takenSchema.extend({
  ended_at: z.string(),
  folder: z.enum(finalFolders),
  base_url: z.string(),
});

export type TakenRecord = z.infer<typeof takenSchema>;
export type EndedRecord = z.infer<typeof endedSchema>;

export type InboxRecords = Awaited<ReturnType<typeof openInboxRecords>>;

/**
 * What an inbox remembers of the manifests that were taken out of it: a JSON file for each content, in a hidden folder of the
 * inbox, because all of its watchers see that.
 */
export async function openInboxRecords(inbox: string) {
  const folder = join(inbox, '.cqbatch-inbox');
  await refuseLink(folder);
  for (const name of ['taken', 'ended', 'locks']) await makeFolder(join(folder, name));
  const takenFolder = join(folder, 'taken');
  const takenPath = (sha256: string): string => join(takenFolder, `${sha256}.json`);
  const endedPath = (sha256: string): string => join(folder, 'ended', `${sha256}.json`);
  const taken = (sha256: string): Promise<TakenRecord | undefined> => read(takenPath(sha256), takenSchema);
  const forget = async (sha256: string): Promise<void> => {
    const path = takenPath(sha256);
    await onDisk(path, () => rm(path, { force: true }));
  };
  return {
    /** The path that is locked while a process works with that content. */
    lockPath: (sha256: string): string => join(folder, 'locks', sha256),
    takenPath,
    /** The file that tells that a manifest of this content was run and put away. */
    endedPath,
    taken,
    ended: (sha256: string): Promise<EndedRecord | undefined> => read(endedPath(sha256), endedSchema),
    /** Manifests that are taken and not finished, the longest ago first. */
    async unfinished(): Promise<readonly TakenRecord[]> {
      const names = await onDisk(takenFolder, () => readdir(takenFolder));
      const contents = names.flatMap((name) => /^([0-9a-f]{64})\.json$/.exec(name)?.[1] ?? []);
      const records = await Promise.all(contents.map(taken));
      return records
        .filter((record) => record !== undefined)
        .toSorted((a, b) => (a.taken_at < b.taken_at ? -1 : 1));
    },
    take: (record: TakenRecord): Promise<void> => writeJsonFile(takenPath(record.sha256), record),
    async end(record: EndedRecord): Promise<void> {
      await writeJsonFile(endedPath(record.sha256), record);
      await forget(record.sha256);
    },
    /** As if it had never been taken. */
    forget,
  };
}

/** @throws a fatal error when the file is damaged: it can't be told then what was run. */
function read<Entry>(path: string, schema: z.ZodType<Entry>): Promise<Entry | undefined> {
  return readJsonFile(path, schema, (cause) =>
    fatalError(
      'INBOX_RECORD_DAMAGED',
      `${path} is damaged or was written by another version of cqbatch: check whether its manifest was run ("cqbatch list"), then ` +
        'remove that file.',
      cause,
    ),
  );
}
