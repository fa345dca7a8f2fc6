import type { Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type RepeatedTask, repeat } from '../../base/async/repeat.ts';
import { deferred } from '../../base/async/waiting.ts';
import type { RowResult } from '../../domain/row-result.ts';
import { removedJournal, unwritableJournal } from './failure.ts';
import { GroupWriter } from './group-writer.ts';
import type { Journal } from './journal.ts';
import { JournalFile } from './journal-file.ts';
import { encodeHeader, type JournalEntry } from './line.ts';

/** How often the journal's file is checked: a slow run may append nothing for minutes. */
const checkEveryMs = 1_000;

/** A journal that this process writes. Call `refresh`, then `begin`, before the first append. */
export class AppendableJournal extends JournalFile implements Journal {
  onFinished: (results: readonly RowResult[]) => void = () => {};
  #writer: GroupWriter | undefined;
  readonly #lost = deferred<Error>();
  #checks: RepeatedTask | undefined;
  /** An open file keeps its number and its device. */
  #opened: Pick<Stats, 'ino' | 'dev'> | undefined;

  /** Cuts off a torn last line, and writes a missing header. @param size of the file */
  async begin(size: number): Promise<void> {
    const { path, handle, runId } = this.source;
    const complete = super.end;
    const header = Buffer.from(encodeHeader(runId));
    try {
      if (size > complete) await handle.truncate(complete);
      if (complete === 0) {
        await writeFully(handle, header, 0);
        await handle.sync();
        await syncFolder(dirname(path));
      }
    } catch (error) {
      throw unwritableJournal(path, error);
    }
    const disk = {
      persist: (bytes: Buffer, position: number) => this.#persist(bytes, position),
      failure: (cause: unknown) => unwritableJournal(path, cause),
    };
    this.#writer = new GroupWriter(this, disk, complete === 0 ? header.length : complete);
  }

  get lost(): Promise<Error> {
    // A disk that does not answer is no proof that the file is gone.
    this.#checks ??= repeat(() => this.#checkPlace(), { everyMs: checkEveryMs });
    return this.#lost.promise;
  }

  async isIntact(): Promise<boolean> {
    const size = await this.#sizeInPlace();
    return size !== undefined && size >= this.end;
  }

  async append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]> {
    if (this.#writer === undefined) throw new TypeError('The journal was not opened for writing.');
    const results = await this.#writer.append(entries);
    this.onFinished(results);
    return results;
  }

  override get end(): number {
    return this.#writer?.end ?? super.end;
  }

  protected override async finish(): Promise<void> {
    void this.#checks?.stop();
    await this.#writer?.idle();
  }

  async #checkPlace(): Promise<void> {
    if ((await this.#sizeInPlace()) === undefined) this.#lost.resolve(removedJournal(this.source.path));
  }

  /** The size of the file at the path. Undefined if another file or none is there: a deleted file still accepts writes, and loses them. */
  async #sizeInPlace(): Promise<number | undefined> {
    const inPlace = await stat(this.source.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    this.#opened ??= await this.source.handle.stat();
    return inPlace?.ino === this.#opened.ino && inPlace.dev === this.#opened.dev ? inPlace.size : undefined;
  }

  async #persist(bytes: Buffer, position: number): Promise<void> {
    const { path, handle } = this.source;
    const size = await this.#sizeInPlace();
    if (size === undefined) throw removedJournal(path);
    if (size !== position) throw new Error('another process has written to it');
    await writeFully(handle, bytes, position);
    await handle.datasync();
  }
}

async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** Makes the entry of a new file survive a power failure, except on Windows. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
