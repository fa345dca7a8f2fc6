import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile, writeJsonFile } from '../../base/disk/json-file.ts';
import { fatalError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { fileNames, runIds } from '../../domain/names.ts';
import { refuseForeign } from './files.ts';

export const finalFolders = ['done', 'partial', 'failed'] as const;

export type FinalFolder = (typeof finalFolders)[number];

const takenSchema = z.object({
  version: z.literal(1),
  name: nameSchema(fileNames),
  /** In `running/`, and later in `done/`, `partial/` or `failed/`. */
  file: nameSchema(fileNames),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  run: nameSchema(runIds),
  /** Of the state folder that has the run. */
  state_id: z.string(),
  user: z.string(),
  host: z.string(),
  taken_at: z.string(),
});

const endedSchema = takenSchema.extend({
  ended_at: z.string(),
  folder: z.enum(finalFolders),
  base_url: z.string(),
});

export type TakenRecord = z.infer<typeof takenSchema>;
export type EndedRecord = z.infer<typeof endedSchema>;

export type InboxRecords = Awaited<ReturnType<typeof openInboxRecords>>;

/** Records of manifests taken from an inbox: a JSON file for each content, in a hidden folder of the inbox that all of its watchers see. */
export async function openInboxRecords(inbox: string) {
  const folder = join(inbox, '.cqbatch-inbox');
  const folders = [folder, ...['taken', 'ended', 'locks'].map((name) => join(folder, name))];
  for (const each of folders) {
    await refuseForeign(each);
    await makeRecordFolder(each);
  }
  const takenFolder = join(folder, 'taken');
  const takenPath = (sha256: string): string => join(takenFolder, `${sha256}.json`);
  const endedPath = (sha256: string): string => join(folder, 'ended', `${sha256}.json`);
  const taken = (sha256: string): Promise<TakenRecord | undefined> => read(takenPath(sha256), takenSchema);
  const forget = async (sha256: string): Promise<void> => {
    const path = takenPath(sha256);
    await onDisk(path, () => rm(path, { force: true }));
  };
  return {
    async refuseForeign(): Promise<void> {
      for (const each of folders) await refuseForeign(each);
    },
    lockPath: (sha256: string): string => join(folder, 'locks', sha256),
    takenPath,
    /** Exists when this content has run and was archived. */
    endedPath,
    taken,
    ended: (sha256: string): Promise<EndedRecord | undefined> => read(endedPath(sha256), endedSchema),
    /** Oldest first. */
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
    forget,
  };
}

/** Never makes the inbox itself, whose disk may be unmounted. */
async function makeRecordFolder(path: string): Promise<void> {
  await onDisk(path, () =>
    mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    }),
  );
}

/** @throws a fatal error for a damaged file, because the damage hides which contents have run */
async function read<Entry>(path: string, schema: z.ZodType<Entry>): Promise<Entry | undefined> {
  await refuseForeign(path);
  return readJsonFile(path, schema, (cause) =>
    fatalError(
      'INBOX_RECORD_DAMAGED',
      `${path} is damaged: check whether its manifest was run ("cqbatch list"), then remove that file.`,
      cause,
    ),
  );
}
