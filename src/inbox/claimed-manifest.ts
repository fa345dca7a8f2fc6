import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessLock } from '../disk/lock.ts';
import type { ManifestOrigin } from '../run/plan/create-run.ts';
import { folderOf, moved, putBeside } from './files.ts';
import type { FinalFolder, InboxRecords, TakenRecord } from './records.ts';

/** How it ended with a manifest that was taken. */
export interface ManifestEnding {
  readonly folder: FinalFolder;
  /** For people, beside the manifest as `NAME.error.txt`; not for what is done. */
  readonly text?: string;
  /** Files that are copied beside it, by what is put behind its name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The API that it was run on; absent when it was not run, so that it may be dropped again. */
  readonly ranOn?: string;
}

/** A manifest that this process has taken out of an inbox: no other has it until it is finished or released. */
export class ClaimedManifest {
  readonly record: TakenRecord;
  /** Where it is meanwhile. */
  readonly path: string;
  /** What it was called when it was put into the inbox. */
  readonly givenPath: string;
  /** For its run, which is kept until the manifest is put away: else the manifest would be run again. */
  readonly origin: ManifestOrigin;
  readonly #inbox: string;
  readonly #records: InboxRecords;
  readonly #lock: ProcessLock;

  constructor(inbox: string, records: InboxRecords, record: TakenRecord, lock: ProcessLock) {
    this.record = record;
    this.path = join(inbox, 'running', record.file);
    this.givenPath = join(inbox, record.name);
    this.origin = { name: this.givenPath, keepUntil: records.endedPath(record.sha256) };
    this.#inbox = inbox;
    this.#records = records;
    this.#lock = lock;
  }

  /**
   * Puts it where it belongs, with what belongs beside it. Done again after a kill, it comes to the same.
   *
   * @returns where it is now.
   */
  async finish({ folder, text, files = {}, ranOn }: ManifestEnding): Promise<string> {
    const path = join(await folderOf(this.#inbox, folder), this.record.file);
    for (const [suffix, from] of Object.entries(files))
      await putBeside(this.path, `${path}${suffix}`, (to) => copyFile(from, to));
    if (text !== undefined)
      await putBeside(this.path, `${path}.error.txt`, (to) => writeFile(to, `${text}\n`));
    await moved(this.path, path);
    if (ranOn === undefined) await this.#records.forget(this.record.sha256);
    else {
      const endedAt = new Date().toISOString();
      await this.#records.end({ ...this.record, ended_at: endedAt, folder, base_url: ranOn });
    }
    await this.release();
    return path;
  }

  /** Leaves it to the process that looks next. */
  release(): Promise<void> {
    return this.#lock.release();
  }
}
