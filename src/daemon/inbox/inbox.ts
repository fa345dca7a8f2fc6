import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { steadyNow } from '../../base/async/clock.ts';
import { exists, ifThere } from '../../base/disk/files.ts';
import { lockPath, type ProcessLock } from '../../base/disk/lock.ts';
import { BusyError } from '../../base/errors/errors.ts';
import { onDisk, SystemError } from '../../base/errors/system-error.ts';
import { shellWord } from '../../base/text/shell-word.ts';
import { uniqueName } from '../../base/text/unique-name.ts';
import { thisActor } from '../../domain/actor.ts';
import { contentRunId } from '../../engine/run/record/run-id.ts';
import { stateId } from '../../engine/run/record/state-folder.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { type ClaimedManifest, claimedManifest } from './claimed-manifest.ts';
import { digestOf, folderOf, moved, putBeside } from './files.ts';
import { findInbox, type InboxPlace } from './names.ts';
import {
  type EndedRecord,
  finalFolders,
  type InboxRecords,
  openInboxRecords,
  type TakenRecord,
} from './records.ts';
import { stableFiles, versionOf, type WaitingFile } from './stable-files.ts';

export interface InboxOptions {
  /** A folder, perhaps with a pattern of names in it. */
  readonly path: string;
  readonly store: Pick<RunStore, 'stateDir' | 'look'>;
  /** Milliseconds without a change before a file is taken. */
  readonly settleMs: number;
}

export type Taking =
  | { readonly kind: 'taken'; readonly manifest: ClaimedManifest }
  /** The same content has run: the file was moved to the earlier manifest (`path`). */
  | { readonly kind: 'copy'; readonly of: EndedRecord; readonly path: string }
  /** Another process works on the content, or another state folder will continue the run. */
  | { readonly kind: 'elsewhere'; readonly who: string }
  /** The system refuses to read or move the file. */
  | { readonly kind: 'unusable'; readonly why: string }
  /** A program may still be writing the file. */
  | { readonly kind: 'growing' }
  /** The file no longer exists, or has changed. */
  | { readonly kind: 'gone' };

interface AttemptedFile {
  readonly name: string;
  readonly taking: Taking;
}

/**
 * A folder for manifests of people and programs. Each content runs once:
 *
 * ```
 *   inbox/a.csv ──(take)──▶ inbox/running/a.3f2a1b9c.csv ──(finish)──▶ inbox/done/, partial/ or failed/
 * ```
 *
 * A process that takes or finishes a manifest locks its content, and records each step before the step. After a kill, processes
 * with the same state folder continue, because they have the run.
 */
export class Inbox {
  readonly folder: string;
  readonly #place: InboxPlace;
  readonly #records: InboxRecords;
  readonly #stateId: string;
  readonly #store: InboxOptions['store'];
  readonly #completeOf: ReturnType<typeof stableFiles>;
  #digests = new Map<string, string>();

  private constructor(
    place: InboxPlace,
    records: InboxRecords,
    id: string,
    { store, settleMs }: InboxOptions,
  ) {
    this.folder = place.folder;
    this.#place = place;
    this.#records = records;
    this.#stateId = id;
    this.#store = store;
    this.#completeOf = stableFiles(settleMs);
  }

  /** @throws a usage error `INBOX_UNUSABLE` when the folder does not exist */
  static async open(options: InboxOptions): Promise<Inbox> {
    const place = await findInbox(options.path);
    for (const name of ['running', ...finalFolders]) await folderOf(place.folder, name);
    const records = await openInboxRecords(place.folder);
    return new Inbox(place, records, await stateId(options.store.stateDir), options);
  }

  /**
   * Takes unfinished manifests first, then waiting files, oldest first. Releases a manifest when the loop asks for the next one, or ends.
   */
  async *take(): AsyncGenerator<AttemptedFile> {
    for (const record of await this.unfinished()) {
      const taking = await this.takeOver(record);
      if (taking.kind === 'taken') yield* untilReleased(record.name, taking);
    }
    const files = await this.#look();
    const complete = new Set(this.#completeOf(files, steadyNow(), Date.now()));
    for (const file of files) {
      const taking: Taking = complete.has(file) ? await this.#takeFile(file) : { kind: 'growing' };
      yield* untilReleased(file.name, taking);
    }
  }

  /** Oldest first. */
  async #look(): Promise<readonly WaitingFile[]> {
    const all = await onDisk(this.folder, () => readdir(this.folder, { encoding: 'buffer' }));
    const names = all.filter((name) => this.#place.matches(name.toString()));
    const found = await Promise.all(names.map((name) => lookAt(this.folder, name)));
    const files = found.filter((file) => file !== undefined);
    const versions = new Set(files.map(versionOf));
    this.#digests = new Map([...this.#digests].filter(([version]) => versions.has(version)));
    return files.toSorted((a, b) => a.mtimeMs - b.mtimeMs || (a.name < b.name ? -1 : 1));
  }

  async ignored(): Promise<readonly { readonly name: string; readonly why: string }[]> {
    const entries = await onDisk(this.folder, () => readdir(this.folder, { withFileTypes: true }));
    return entries.flatMap((entry) => {
      const { name } = entry;
      const isLink = entry.isSymbolicLink() && this.#place.matches(name);
      const why = isLink ? 'it is a symbolic link' : entry.isFile() && this.#place.whyIgnored(name);
      return why ? [{ name, why }] : [];
    });
  }

  async #takeFile(file: WaitingFile): Promise<Taking> {
    const path = join(this.folder, file.name);
    try {
      return await this.#takeAt(path, file);
    } catch (error) {
      const isOfFile = error instanceof SystemError && (error.cause as NodeJS.ErrnoException).path === path;
      if (isOfFile) return { kind: 'unusable', why: error.what };
      throw error;
    }
  }

  async #takeAt(path: string, file: WaitingFile): Promise<Taking> {
    const { name } = file;
    const sha256 = await this.#digestOf(file);
    if (sha256 === undefined) {
      return name.includes('\ufffd')
        ? { kind: 'unusable', why: 'its name is not UTF-8; rename it' }
        : { kind: 'gone' };
    }
    return this.#locked(sha256, async (lock) => {
      const ended = await this.#records.ended(sha256);
      if (ended !== undefined) return this.#putToFirst(name, ended);
      const taken = await this.#records.taken(sha256);
      if (taken !== undefined && taken.state_id !== this.#stateId)
        return { kind: 'elsewhere', who: this.#describe(taken) };
      const record = taken ?? this.#newRecord(name, sha256);
      const running = join(this.folder, 'running', record.file);
      if (!(await exists(running)) && !(await this.#takeOut(path, running, record))) return { kind: 'gone' };
      return { kind: 'taken', manifest: claimedManifest(this.folder, this.#records, record, lock) };
    });
  }

  /** Taken by this state folder, oldest first. */
  async unfinished(): Promise<readonly TakenRecord[]> {
    return (await this.#records.unfinished()).filter(({ state_id: id }) => id === this.#stateId);
  }

  async takeOver({ sha256 }: TakenRecord): Promise<Taking> {
    return this.#locked(sha256, async (lock) => {
      const record = await this.#records.taken(sha256);
      if (record === undefined) return { kind: 'gone' };
      if ((await this.#records.ended(sha256)) !== undefined) {
        await this.#records.forget(sha256);
        return { kind: 'gone' };
      }
      // Without a run and the file, the manifest was refused and archived, never moved, or replaced; no row of it was sent.
      const hasRun = (await this.#store.look(record.run)) !== undefined;
      if (!hasRun && !(await this.#isAsTaken(record))) return { kind: 'gone' };
      return { kind: 'taken', manifest: claimedManifest(this.folder, this.#records, record, lock) };
    });
  }

  /** Keeps the lock only for a claimed manifest. */
  async #locked(sha256: string, work: (lock: ProcessLock) => Promise<Taking>): Promise<Taking> {
    await this.#records.refuseForeign();
    let lock: ProcessLock;
    try {
      lock = await lockPath({
        path: this.#records.lockPath(sha256),
        purpose: `inbox ${this.folder}`,
        taken: (who) => new BusyError('INBOX_LOCKED', who, 'Wait for its end.'),
      });
    } catch (error) {
      if (error instanceof BusyError) return { kind: 'elsewhere', who: error.what };
      throw error;
    }
    let taking: Taking | undefined;
    try {
      taking = await work(lock);
      return taking;
    } finally {
      if (taking?.kind !== 'taken') await lock.release();
    }
  }

  #newRecord(name: string, sha256: string): TakenRecord {
    const { user, host } = thisActor();
    return {
      version: 1,
      name,
      file: uniqueName(name, sha256),
      sha256,
      run: contentRunId(name, sha256),
      state_id: this.#stateId,
      user,
      host,
      taken_at: new Date().toISOString(),
    };
  }

  async #takeOut(path: string, running: string, record: TakenRecord): Promise<boolean> {
    await folderOf(this.folder, 'running');
    await this.#records.take(record);
    await moved(path, running).catch(async (error: unknown) => {
      await this.#records.forget(record.sha256);
      throw error;
    });
    return this.#isAsTaken(record);
  }

  /** Whether `running/` still has the file. Another file in its place is moved back into the inbox. */
  async #isAsTaken({ name, file, sha256 }: TakenRecord): Promise<boolean> {
    const running = join(this.folder, 'running', file);
    const found = await digestOf(running);
    if (found === sha256) return true;
    if (found !== undefined) {
      const path = join(this.folder, name);
      await moved(running, (await exists(path)) ? join(this.folder, uniqueName(name, found)) : path);
    }
    await this.#records.forget(sha256);
    return false;
  }

  async #putToFirst(name: string, of: EndedRecord): Promise<Taking> {
    const from = join(this.folder, name);
    const path = join(await folderOf(this.folder, of.folder), uniqueName(name, of.sha256));
    const text =
      `${name} has the same content as ${of.name}, which was run as ${of.run} on ${of.base_url} and ended on ${of.ended_at} (see ` +
      `"cqbatch show ${of.run}"), so it was not run again. To run it anyway, type: cqbatch run`;
    await putBeside(from, `${path}.copy.txt`, `${text} ${shellWord(path)}\n`);
    return (await moved(from, path)) ? { kind: 'copy', of, path } : { kind: 'gone' };
  }

  #describe({ run, user, host, taken_at: since, sha256 }: TakenRecord): string {
    return (
      `run ${run} of another state folder, started by ${user} on ${host} at ${since}; if that folder no longer exists, remove ` +
      `${this.#records.takenPath(sha256)}`
    );
  }

  async #digestOf(file: WaitingFile): Promise<string | undefined> {
    const version = versionOf(file);
    const now = await lookAt(this.folder, Buffer.from(file.name));
    if (now === undefined || versionOf(now) !== version) return undefined;
    const digest = this.#digests.get(version) ?? (await digestOf(join(this.folder, file.name)));
    if (digest !== undefined) this.#digests.set(version, digest);
    return digest;
  }
}

async function* untilReleased(name: string, taking: Taking): AsyncGenerator<AttemptedFile> {
  try {
    yield { name, taking };
  } finally {
    if (taking.kind === 'taken') await taking.manifest.release();
  }
}

/** Undefined for anything but a regular file: a symbolic link can't be taken. */
async function lookAt(folder: string, name: Buffer): Promise<WaitingFile | undefined> {
  // Names need not be valid text.
  const path = Buffer.concat([Buffer.from(join(folder, '/')), name]);
  const found = await ifThere(lstat(path));
  if (found === undefined || !found.isFile()) return undefined;
  const { size, mtimeMs, ctimeMs, ino } = found;
  return { name: name.toString(), size, mtimeMs, ctimeMs, ino };
}
