import { join } from 'node:path';
import { bytesOf } from '../../base/disk/files.ts';
import type { ProcessLock } from '../../base/disk/lock.ts';
import type { ManifestOrigin } from '../../engine/run/plan/create-run.ts';
import { folderOf, moved, putBeside } from './files.ts';
import type { FinalFolder, InboxRecords, TakenRecord } from './records.ts';

/** The result of a claimed manifest. */
export interface ManifestEnding {
  readonly folder: FinalFolder;
  /** Explanation for the user, written to `NAME.error.txt` beside the manifest; absent for done manifests. */
  readonly text?: string;
  /** Files to copy beside it, by the suffix of their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** The API that it ran on; absent if it did not run, so that it may be put in again. */
  readonly ranOn?: string;
}

export type ClaimedManifest = ReturnType<typeof claimedManifest>;

/** A manifest that this process has claimed from an inbox, exclusively until it is finished or released. */
export function claimedManifest(
  inbox: string,
  records: InboxRecords,
  record: TakenRecord,
  lock: ProcessLock,
) {
  /** Its path while claimed. */
  const path = join(inbox, 'running', record.file);
  /** Its original path in the inbox. */
  const givenPath = join(inbox, record.name);
  /** For its run, which is kept until the manifest is archived: otherwise the manifest would run again. */
  const origin: ManifestOrigin = {
    name: givenPath,
    keepUntil: records.endedPath(record.sha256),
    sha256: record.sha256,
  };
  /** Leaves the manifest to the next process that looks. */
  const release = (): Promise<void> => lock.release();
  return {
    record,
    path,
    givenPath,
    origin,
    release,
    /**
     * Moves the manifest to its final folder, after the files beside it. Idempotent: repeated after a kill.
     *
     * @returns its new path
     */
    async finish({ folder, text, files = {}, ranOn }: ManifestEnding): Promise<string> {
      const last = join(await folderOf(inbox, folder), record.file);
      for (const [suffix, from] of Object.entries(files))
        await putBeside(path, `${last}${suffix}`, bytesOf(from));
      if (text !== undefined) await putBeside(path, `${last}.error.txt`, `${text}\n`);
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
