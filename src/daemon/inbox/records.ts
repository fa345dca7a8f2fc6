import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { ifThere, whyForeign, whyForeignStats } from '../../base/disk/files.ts';
import { readJsonFile, replaceJsonFile } from '../../base/disk/json-file.ts';
import { withFolder } from '../../base/disk/open-folder.ts';
import { type CqbatchError, fatalError, usageError } from '../../base/errors/errors.ts';
import { onDisk } from '../../base/errors/system-error.ts';
import { shellWord } from '../../base/text/command-words.ts';
import { escapeInvisible } from '../../base/text/printable.ts';
import { nameSchema } from '../../domain/name-schema.ts';
import { fileNames, runIds } from '../../domain/names.ts';
import { withFolderOnDisk } from './files.ts';

export const finalFolders = ['done', 'partial', 'failed'] as const;

export type FinalFolder = (typeof finalFolders)[number];

const takenSchema = z.object({
  version: z.literal(1),
  name: nameSchema(fileNames),
  /** The path of the file, in `running/`, and later in `done/`, `partial/` or `failed/`. */
  file: nameSchema(fileNames),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  run: nameSchema(runIds),
  /** The id of the state folder that has the run. */
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

const recordFolder = '.cqbatch-inbox';
const recordKinds = ['taken', 'ended', 'locks'] as const;

type RecordKind = (typeof recordKinds)[number];

/**
 * Records of manifests taken from an inbox: a JSON file for each content, in a hidden folder of the inbox that all of its watchers see.
 * They decide what runs again, so another user must not own, change or exchange them.
 *
 * @throws a usage error `INBOX_UNUSABLE`, or a fatal error `INBOX_RECORDS_MISSING`
 */
export async function openInboxRecords(inbox: string) {
  const folder = join(inbox, recordFolder);
  const fileIn = (part: RecordKind, sha256: string) => ({
    part,
    sha256,
    path: join(folder, part, `${sha256}.json`),
  });
  type RecordFile = ReturnType<typeof fileIn>;

  /** @param work gets the paths of records, valid while it works */
  const using = <Result>(work: (at: (file: RecordFile) => string) => Promise<Result>): Promise<Result> =>
    withFolderOnDisk(inbox, inbox, true, async (whole) => {
      const path = whole.pathOf(recordFolder);
      const found = await onDisk(folder, () => ifThere(lstat(path)));
      if (found === undefined) throw missingRecordsError(folder);
      refuseFolderIf(whyForeignStats(found), folder);
      return withFolderOnDisk(folder, path, false, async (open) => {
        refuseFolderIf(whyForeignStats(await open.stat()), folder);
        for (const part of recordKinds)
          refuseFolderIf(await whyForeign(open.pathOf(part)), join(folder, part));
        return work(({ part, sha256 }) => join(open.pathOf(part), `${sha256}.json`));
      });
    });

  /** @throws a fatal error for a damaged file, because the damage hides which contents have run */
  const read = async <Entry>(
    file: RecordFile,
    schema: z.ZodType<Entry>,
    at: string,
  ): Promise<Entry | undefined> => {
    const { path } = file;
    refuseFolderIf(await whyForeign(at), path);
    return readJsonFile(at, schema, (cause) => damagedRecordError(path, cause), path);
  };

  const forgetAt = (sha256: string, at: string): Promise<void> =>
    onDisk(fileIn('taken', sha256).path, () => rm(at, { force: true }));

  const take = (record: TakenRecord): Promise<void> => {
    const file = fileIn('taken', record.sha256);
    return using((at) => onDisk(file.path, () => replaceJsonFile(at(file), record)));
  };

  await makeRecordFolders(inbox, folder);
  await using(async () => {});
  return {
    /** The path that `lockPath` locks for a content. */
    lockPath: (sha256: string): string => join(folder, 'locks', sha256),
    takenPath: (sha256: string): string => fileIn('taken', sha256).path,
    /** A path that exists when this content has run and was archived. */
    endedPath: (sha256: string): string => fileIn('ended', sha256).path,
    /** @throws a usage error `INBOX_UNUSABLE` or a fatal error `INBOX_RECORDS_MISSING` */
    requireTrusted: (): Promise<void> => using(async () => {}),
    taken(sha256: string): Promise<TakenRecord | undefined> {
      const file = fileIn('taken', sha256);
      return using((at) => read(file, takenSchema, at(file)));
    },
    ended(sha256: string): Promise<EndedRecord | undefined> {
      const file = fileIn('ended', sha256);
      return using((at) => read(file, endedSchema, at(file)));
    },
    /** The manifests that are not archived yet, oldest first. */
    unfinished(): Promise<readonly TakenRecord[]> {
      return using(async (at) => {
        const names = await onDisk(join(folder, 'taken'), () => readdir(dirname(at(fileIn('taken', '')))));
        const contents = names.flatMap((name) => /^([0-9a-f]{64})\.json$/.exec(name)?.[1] ?? []);
        const files = contents.map((sha256) => fileIn('taken', sha256));
        const records = await Promise.all(files.map((file) => read(file, takenSchema, at(file))));
        return records
          .filter((record) => record !== undefined)
          .toSorted((a, b) => (a.taken_at < b.taken_at ? -1 : 1));
      });
    },
    take,
    end(record: EndedRecord): Promise<void> {
      const file = fileIn('ended', record.sha256);
      return using(async (at) => {
        await onDisk(file.path, () => replaceJsonFile(at(file), record));
        await forgetAt(record.sha256, at(fileIn('taken', record.sha256)));
      });
    },
    forget: (sha256: string): Promise<void> => using((at) => forgetAt(sha256, at(fileIn('taken', sha256)))),
  };
}

/**
 * Never makes the inbox itself, whose disk may be unmounted. An inbox with `running/` was used before: without its records, which another
 * user may have renamed, each content would run again.
 */
async function makeRecordFolders(inbox: string, folder: string): Promise<void> {
  const wasUsed = (await ifThere(lstat(join(inbox, 'running'))))?.isDirectory() === true;
  await withFolderOnDisk(inbox, inbox, true, (whole) =>
    onDisk(folder, async () => {
      const at = whole.pathOf(recordFolder);
      if ((await ifThere(lstat(at))) === undefined) {
        if (wasUsed) throw missingRecordsError(folder);
        await makeIfMissing(at);
      }
      refuseFolderIf(await whyForeign(at), folder);
      await withFolder(at, async (open) => {
        refuseFolderIf(whyForeignStats(await open.stat()), folder);
        for (const part of recordKinds) await makeIfMissing(open.pathOf(part));
      });
    }),
  );
}

async function makeIfMissing(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

function refuseFolderIf(why: string | undefined, path: string): void {
  if (why === undefined) return;
  const folder = shellWord(path);
  throw usageError(
    'INBOX_UNUSABLE',
    `${escapeInvisible(path)} ${why}, so its records prove nothing. Look who has changed it; if its content is right, type: ` +
      `chown -R "$(id -un)" ${folder} && chmod -R go-w ${folder}`,
  );
}

function missingRecordsError(folder: string): CqbatchError {
  return fatalError(
    'INBOX_RECORDS_MISSING',
    `${escapeInvisible(folder)}, which remembers what was run, is missing: put it back. If it is lost, and each file that waits in the ` +
      `inbox may run, even a second time, type: mkdir -m 700 ${shellWord(folder)}`,
  );
}

function damagedRecordError(path: string, cause: unknown): CqbatchError {
  return fatalError(
    'INBOX_RECORD_DAMAGED',
    `${path} is damaged: restore it from a backup. Remove it only if "cqbatch list" shows no run that ends in -${basename(path).slice(0, 8)}, ` +
      'or the manifest may run again.',
    cause,
  );
}
