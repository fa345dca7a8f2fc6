import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessLock } from '../disk/lock.ts';
import type { ManifestOrigin } from '../run/plan/create-run.ts';
import { folderOf, moved, putBeside } from './files.ts';
import type { FinalFolder, InboxRecords, TakenRecord } from './records.ts';

/** What became of a manifest that was taken. */
export interface ManifestEnding {
  readonly folder: FinalFolder;
  /** For people, beside the manifest as `NAME.error.txt`; not for what is done. */
  readonly text?: string;
  /** Files that are copied beside it, by what is put behind its name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The API that it was run on; absent when it was not run, so that it may be dropped again. */
  readonly ranOn?: string;
}

export type ClaimedManifest = ReturnType<typeof claimedManifest>;

/** A manifest that this process has taken out of an inbox: no other has it until it is finished or released. */
export function claimedManifest(
  inbox: string,
  records: InboxRecords,
  record: TakenRecord,
  lock: ProcessLock,
) {
  /** Where it is meanwhile. */
  const path = join(inbox, 'running', record.file);
  /** What it was called when it was put into the inbox. */
  const givenPath = join(inbox, record.name);
  /** For its run, which is kept until the manifest is put away: else the manifest would be run again. */
  const origin: ManifestOrigin = { name: givenPath, keepUntil: records.endedPath(record.sha256) };
  /** Leaves it to the process that looks next. */
  const release = (): Promise<void> => lock.release();
  return {
    ...{ record, path, givenPath, origin, release },
    /**
     * Moves it to its last folder, after the files that go beside it. Idempotent: after a kill it is done again.
     *
     * @returns where it is now.
     */
    async finish({ folder, text, files = {}, ranOn }: ManifestEnding): Promise<string> {
      const last = join(await folderOf(inbox, folder), record.file);
      for (const [suffix, from] of Object.entries(files))
        await putBeside(path, `${last}${suffix}`, (to) => copyFile(from, to));
      if (text !== undefined) await putBeside(path, `${last}.error.txt`, (to) => writeFile(to, `${text}\n`));
      await moved(path, last);
      if (ranOn === undefined) await records.forget(record.sha256);
      else {
        const endedAt = new Date().toISOString();
        await records.end({ ...record, ended_at: endedAt, folder, base_url: ranOn });
      }
      await release();
      return last;
    },
  };
}
