import { join } from 'node:path';
import type { ProcessLock } from '../../base/disk/lock.ts';
import { readFileParts } from '../../base/disk/open-file.ts';
import type { ManifestOrigin } from '../../engine/run/plan/create-run.ts';
import { folderOf, moved, putBeside } from './files.ts';
import type { FinalFolder, InboxRecords, TakenRecord } from './records.ts';

export interface ManifestEnding {
  readonly folder: FinalFolder;
  /** Written to `NAME.error.txt` beside the manifest; absent for done manifests. */
  readonly text?: string;
  /** Files to copy beside the manifest, by the suffix of their new names. */
  readonly files?: Readonly<Record<string, string>>;
  /** The API of the run; absent if the manifest did not run, so that users may put it into the inbox again. */
  readonly ranOn?: string;
}

export type ClaimedManifest = ReturnType<typeof claimedManifest>;

/** This process has the manifest alone until it is finished or released. */
export function claimedManifest(
  inbox: string,
  records: InboxRecords,
  record: TakenRecord,
  lock: ProcessLock,
) {
  const path = join(inbox, 'running', record.file);
  const givenPath = join(inbox, record.name);
  /** Without its run, the manifest would run again, so the run is kept until the manifest is archived. */
  const origin: ManifestOrigin = {
    name: givenPath,
    keepUntil: records.endedPath(record.sha256),
    sha256: record.sha256,
  };
  const release = (): Promise<void> => lock.release();
  return {
    record,
    path,
    givenPath,
    origin,
    release,
    /**
     * Copies the files beside the manifest, then moves it to its final folder. Idempotent, because it is repeated after a kill.
     *
     * @returns the new path of the manifest
     */
    async finish({ folder, text, files = {}, ranOn }: ManifestEnding): Promise<string> {
      const last = join(await folderOf(inbox, folder), record.file);
      for (const [suffix, from] of Object.entries(files))
        await putBeside(path, `${last}${suffix}`, readFileParts(from));
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
