import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { exists } from '../../base/disk/files.ts';
import { lockPath, type ProcessLock } from '../../base/disk/lock.ts';
import { BusyError, type CqbatchError } from '../../base/errors/errors.ts';
import { SystemError } from '../../base/errors/system-error.ts';
import { shellWord } from '../../base/text/command-words.ts';
import { uniqueName } from '../../base/text/unique-name.ts';
import { thisActor } from '../../domain/actor.ts';
import { manifestTooLarge } from '../../engine/manifest/text/mistake.ts';
import { contentRunId } from '../../engine/run/record/run-id.ts';
import { isOfFilesOfRun } from '../../engine/run/record/run-journal.ts';
import { stateId } from '../../engine/run/record/state-folder.ts';
import type { RunStore } from '../../engine/run/record/store.ts';
import { type ClaimedManifest, claimedManifest } from './claimed-manifest.ts';
import { contentOf, inInbox, moveIfThere, putBack, writeBesideManifest } from './files.ts';
import { findInbox } from './names.ts';
import { refuseUnpinned } from './other-users.ts';
import {
  type EndedRecord,
  finalFolders,
  type InboxRecords,
  openInboxRecords,
  type TakenRecord,
} from './records.ts';
import { versionOf, type WaitingFile } from './stable-files.ts';
import { WaitingFiles, type WaitingOptions } from './waiting-files.ts';

export interface InboxOptions extends WaitingOptions {
  /** A folder, perhaps with a pattern of names in it. */
  readonly path: string;
  readonly store: Pick<RunStore, 'stateDir' | 'look' | 'completed'>;
}

export type Taking =
  | { readonly kind: 'taken'; readonly manifest: ClaimedManifest }
  /** The same content has run: the file was moved to the earlier manifest (`path`). */
  | { readonly kind: 'copy'; readonly of: EndedRecord; readonly path: string }
  /** Another process works on the content, or another state folder will continue the run. */
  | { readonly kind: 'elsewhere'; readonly who: string }
  /** The file is too large: it was moved to `failed/` (`path`). */
  | { readonly kind: 'refused'; readonly error: CqbatchError; readonly path: string }
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
  readonly #waitingFiles: WaitingFiles;
  readonly #records: InboxRecords;
  readonly #stateId: string;
  readonly #store: InboxOptions['store'];
  readonly #mostBytes: number;

  private constructor(
    waiting: WaitingFiles,
    records: InboxRecords,
    id: string,
    { store, mostBytes = Number.POSITIVE_INFINITY }: InboxOptions,
  ) {
    this.folder = waiting.folder;
    this.#waitingFiles = waiting;
    this.#records = records;
    this.#stateId = id;
    this.#store = store;
    this.#mostBytes = mostBytes;
  }

  /**
   * @throws a usage error `INBOX_UNUSABLE` when the folder does not exist, or other users could exchange its folders, and a fatal error
   *   `INBOX_RECORDS_MISSING`
   */
  static async open(options: InboxOptions): Promise<Inbox> {
    const place = await findInbox(options.path);
    const { folder } = place;
    await refuseUnpinned(folder);
    // The records come first: an inbox with running/ must have them.
    const records = await openInboxRecords(folder);
    for (const name of ['running', ...finalFolders]) await inInbox(folder, name, async () => {});
    return new Inbox(
      new WaitingFiles(place, options),
      records,
      await stateId(options.store.stateDir),
      options,
    );
  }

  /**
   * Takes unfinished manifests first, then waiting files, oldest first. Releases a manifest when the loop asks for the next one, or ends.
   */
  async *take(): AsyncGenerator<AttemptedFile> {
    for (const record of await this.unfinishedManifests()) {
      const taking = await this.takeOver(record).catch((error: unknown): Taking => {
        if (!isOfFilesOfRun(error)) throw error;
        return { kind: 'unusable', why: error.message };
      });
      if (taking.kind !== 'gone' && taking.kind !== 'elsewhere') yield* untilReleased(record.name, taking);
    }
    for (const { file, isComplete } of await this.#waitingFiles.readFolder()) {
      const taking: Taking = isComplete ? await this.#takeFile(file) : { kind: 'growing' };
      yield* untilReleased(file.name, taking);
    }
  }

  ignoredFiles(): ReturnType<WaitingFiles['ignoredFiles']> {
    return this.#waitingFiles.ignoredFiles();
  }

  async #takeFile(file: WaitingFile): Promise<Taking> {
    const { name } = file;
    const found = await unlessUnusable(() => this.#waitingFiles.contentOf(file));
    if (typeof found === 'object' && 'why' in found) return { kind: 'unusable', why: found.why };
    if (found === 'too large') return this.#refuse(file);
    if (found === undefined) {
      return name.includes('\ufffd')
        ? { kind: 'unusable', why: 'its name is not UTF-8; rename it' }
        : { kind: 'gone' };
    }
    const { sha256 } = found;
    return this.#locked(sha256, async (lock) => {
      const ended = await this.#records.ended(sha256);
      if (ended !== undefined) return this.#putToFirst(name, ended);
      const taken = await this.#records.taken(sha256);
      if (taken !== undefined && taken.state_id !== this.#stateId)
        return { kind: 'elsewhere', who: this.#describe(taken) };
      const record = taken ?? this.#newRecord(name, sha256);
      const isRunning = await exists(join(this.folder, 'running', record.file));
      const isOut = isRunning || (await this.#takeOut(name, record));
      if (isOut === true) return { kind: 'taken', manifest: this.#claimed(record, lock) };
      return isOut === false ? { kind: 'gone' } : { kind: 'unusable', why: isOut.why };
    });
  }

  /** Too large to read. It has no record, because its content is not known. */
  async #refuse(file: WaitingFile): Promise<Taking> {
    const { name } = file;
    const error = manifestTooLarge(join(this.folder, name), 'the file', this.#mostBytes);
    const unique = uniqueName(name, createHash('sha256').update(versionOf(file)).digest('hex'));
    const isMoved = await inInbox(this.folder, 'failed', async (failed, inbox) => {
      await writeBesideManifest(inbox.file(name), failed.file(`${unique}.error.txt`), `${error.message}\n`);
      return moveIfThere(inbox.file(name), failed.file(unique));
    });
    return isMoved ? { kind: 'refused', error, path: join(this.folder, 'failed', unique) } : { kind: 'gone' };
  }

  #claimed(record: TakenRecord, lock: ProcessLock): ClaimedManifest {
    const { completed } = this.#store;
    return claimedManifest(this.folder, this.#records, record, {
      lock,
      mostBytes: this.#mostBytes,
      completed,
    });
  }

  /** The manifests taken by this state folder, oldest first. */
  async unfinishedManifests(): Promise<readonly TakenRecord[]> {
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
      return { kind: 'taken', manifest: this.#claimed(record, lock) };
    });
  }

  /** Locks the content of a file. The lock is kept only for a claimed manifest. */
  async #locked(sha256: string, work: (lock: ProcessLock) => Promise<Taking>): Promise<Taking> {
    await this.#records.requireTrusted();
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

  async #takeOut(name: string, record: TakenRecord): Promise<boolean | UnusableFile> {
    await this.#records.take(record);
    const isMoved = await inInbox(this.folder, 'running', (running, inbox) =>
      unlessUnusable(() => moveIfThere(inbox.file(name), running.file(record.file))),
    );
    if (typeof isMoved === 'boolean') return this.#isAsTaken(record);
    await this.#records.forget(record.sha256);
    return isMoved;
  }

  /** Whether `running/` still has the file. Another file in its place is moved back into the inbox. */
  async #isAsTaken({ name, file, sha256 }: TakenRecord): Promise<boolean> {
    const content = await inInbox(this.folder, 'running', (running) =>
      contentOf(running.file(file), this.#mostBytes),
    );
    if (content === undefined) {
      await this.#records.forget(sha256);
      return false;
    }
    if (content !== 'too large' && content.sha256 === sha256) return true;
    await putBack(this.folder, file, name);
    await this.#records.forget(sha256);
    return false;
  }

  async #putToFirst(name: string, of: EndedRecord): Promise<Taking> {
    const unique = uniqueName(name, of.sha256);
    const path = join(this.folder, of.folder, unique);
    const text =
      `${name} has the same content as ${of.name}, which was run as ${of.run} on ${of.base_url} and ended on ${of.ended_at} (see ` +
      `"cqbatch show ${of.run}"), so it was not run again. To run it anyway, type: cqbatch run ${shellWord(path)}`;
    const completed = this.#store.completed(text, { baseUrl: of.base_url, lacksOperations: false });
    const isMoved = await inInbox(this.folder, of.folder, async (folder, inbox) => {
      const from = inbox.file(name);
      await writeBesideManifest(from, folder.file(`${unique}.copy.txt`), `${completed}\n`);
      return moveIfThere(from, folder.file(unique));
    });
    return isMoved ? { kind: 'copy', of, path } : { kind: 'gone' };
  }

  #describe({ run, user, host, taken_at: since, sha256 }: TakenRecord): string {
    return (
      `run ${run} of another state folder, started by ${user} on ${host} at ${since}; if that folder no longer exists, remove ` +
      `${this.#records.takenPath(sha256)}`
    );
  }
}

interface UnusableFile {
  readonly why: string;
}

/** A file that the system refuses to read or move must not keep the others from their runs. */
async function unlessUnusable<Result>(work: () => Promise<Result>): Promise<Result | UnusableFile> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return { why: error.what };
  }
}

async function* untilReleased(name: string, taking: Taking): AsyncGenerator<AttemptedFile> {
  try {
    yield { name, taking };
  } finally {
    if (taking.kind === 'taken') await taking.manifest.release();
  }
}
