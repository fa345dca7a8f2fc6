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

/** The same when its run has ended. */
const endedSchema = takenSchema.extend({
  ended_at: z.string(),
  folder: z.enum(finalFolders),
  base_url: z.string(),
});

export type TakenRecord = z.infer<typeof takenSchema>;
export type EndedRecord = z.infer<typeof endedSchema>;

/**
 * What an inbox remembers of the manifests that were taken out of it, by content: files in a hidden folder of it, because
 * that is what all who watch it see.
 */
export class InboxRecords {
  readonly #taken: RecordFolder<TakenRecord>;
  readonly #ended: RecordFolder<EndedRecord>;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#taken = new RecordFolder(join(folder, 'taken'), takenSchema);
    this.#ended = new RecordFolder(join(folder, 'ended'), endedSchema);
  }

  static async open(inbox: string): Promise<InboxRecords> {
    const folder = join(inbox, '.cqbatch-inbox');
    await refuseLink(folder);
    for (const name of ['taken', 'ended', 'locks']) await makeFolder(join(folder, name));
    return new InboxRecords(folder);
  }

  /** The path that is locked while somebody works with that content. */
  lockPath(sha256: string): string {
    return join(this.#folder, 'locks', sha256);
  }

  /** Those that are not finished, the longest ago first. */
  async unfinished(): Promise<readonly TakenRecord[]> {
    const records = await Promise.all((await this.#taken.keys()).map((sha256) => this.taken(sha256)));
    return records
      .filter((record) => record !== undefined)
      .toSorted((a, b) => (a.taken_at < b.taken_at ? -1 : 1));
  }

  taken(sha256: string): Promise<TakenRecord | undefined> {
    return this.#taken.read(sha256);
  }

  ended(sha256: string): Promise<EndedRecord | undefined> {
    return this.#ended.read(sha256);
  }

  take(record: TakenRecord): Promise<void> {
    return this.#taken.write(record.sha256, record);
  }

  takenPath(sha256: string): string {
    return this.#taken.path(sha256);
  }

  /** The file that tells that a manifest of this content was run and put away. */
  endedPath(sha256: string): string {
    return this.#ended.path(sha256);
  }

  async end(record: EndedRecord): Promise<void> {
    await this.#ended.write(record.sha256, record);
    await this.forget(record.sha256);
  }

  /** As if it had never been taken. */
  forget(sha256: string): Promise<void> {
    return this.#taken.remove(sha256);
  }
}

/** One JSON file for each content. */
class RecordFolder<Entry extends object> {
  readonly #folder: string;
  readonly #schema: z.ZodType<Entry>;

  constructor(folder: string, schema: z.ZodType<Entry>) {
    this.#folder = folder;
    this.#schema = schema;
  }

  async keys(): Promise<readonly string[]> {
    const names = await onDisk(this.#folder, () => readdir(this.#folder));
    return names.filter((name) => /^[0-9a-f]{64}\.json$/.test(name)).map((name) => name.slice(0, 64));
  }

  /** @throws a fatal error when it is damaged: what was run can't be told then. */
  read(sha256: string): Promise<Entry | undefined> {
    const path = this.path(sha256);
    return readJsonFile(path, this.#schema, (cause) =>
      fatalError(
        'INBOX_RECORD_DAMAGED',
        `${path} is damaged or was written by another version of cqbatch: look whether its manifest was run ("cqbatch list"), then ` +
          'remove that file.',
        cause,
      ),
    );
  }

  write(sha256: string, entry: Entry): Promise<void> {
    return writeJsonFile(this.path(sha256), entry);
  }

  async remove(sha256: string): Promise<void> {
    const path = this.path(sha256);
    await onDisk(path, () => rm(path, { force: true }));
  }

  path(sha256: string): string {
    return join(this.#folder, `${sha256}.json`);
  }
}
