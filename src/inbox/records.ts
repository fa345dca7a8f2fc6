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
  /** Who took it, for people. */
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

/**
 * What an inbox remembers of the manifests that were taken out of it: a JSON file for each content, in a hidden folder of the
 * inbox, because all of its watchers see that.
 */
export class InboxRecords {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(inbox: string): Promise<InboxRecords> {
    const folder = join(inbox, '.cqbatch-inbox');
    await refuseLink(folder);
    for (const name of ['taken', 'ended', 'locks']) await makeFolder(join(folder, name));
    return new InboxRecords(folder);
  }

  /** The path that is locked while a process works with that content. */
  lockPath(sha256: string): string {
    return join(this.#folder, 'locks', sha256);
  }

  takenPath(sha256: string): string {
    return join(this.#folder, 'taken', `${sha256}.json`);
  }

  /** The file that tells that a manifest of this content was run and put away. */
  endedPath(sha256: string): string {
    return join(this.#folder, 'ended', `${sha256}.json`);
  }

  taken(sha256: string): Promise<TakenRecord | undefined> {
    return read(this.takenPath(sha256), takenSchema);
  }

  ended(sha256: string): Promise<EndedRecord | undefined> {
    return read(this.endedPath(sha256), endedSchema);
  }

  /** Manifests that are taken and not finished, the longest ago first. */
  async unfinished(): Promise<readonly TakenRecord[]> {
    const folder = join(this.#folder, 'taken');
    const names = await onDisk(folder, () => readdir(folder));
    const contents = names.flatMap((name) => /^([0-9a-f]{64})\.json$/.exec(name)?.[1] ?? []);
    const records = await Promise.all(contents.map((sha256) => this.taken(sha256)));
    return records
      .filter((record) => record !== undefined)
      .toSorted((a, b) => (a.taken_at < b.taken_at ? -1 : 1));
  }

  take(record: TakenRecord): Promise<void> {
    return writeJsonFile(this.takenPath(record.sha256), record);
  }

  async end(record: EndedRecord): Promise<void> {
    await writeJsonFile(this.endedPath(record.sha256), record);
    await this.forget(record.sha256);
  }

  /** As if it had never been taken. */
  async forget(sha256: string): Promise<void> {
    const path = this.takenPath(sha256);
    await onDisk(path, () => rm(path, { force: true }));
  }
}

/** @throws a fatal error when the file is damaged: it can't be told then what was run. */
function read<Entry>(path: string, schema: z.ZodType<Entry>): Promise<Entry | undefined> {
  return readJsonFile(path, schema, (cause) =>
    fatalError(
      'INBOX_RECORD_DAMAGED',
      `${path} is damaged or was written by another version of cqbatch: look whether its manifest was run ("cqbatch list"), then ` +
        'remove that file.',
      cause,
    ),
  );
}
