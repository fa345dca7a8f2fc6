import { type FileHandle, stat } from 'node:fs/promises';
import type { RowResult } from '../domain.ts';
import { type Repeated, repeat } from '../repeat.ts';
import { deferred } from '../waiting.ts';
import { removedJournal, replacedJournal } from './failure.ts';
import type { GroupWriter } from './group-writer.ts';
import type { Journal, JournalEntry, JournalReader } from './journal.ts';
import { ResultReader } from './result-reader.ts';
import type { JournalState } from './state.ts';
import { StateView } from './state-view.ts';
import type { JournalTail } from './tail.ts';

/** How often a file that is written is looked for: a slow run may append nothing for long. */
const lookMs = 1_000;

/** Whether the file is still where it was opened. One that was deleted takes all that is written to it, for nobody. */
export async function isInPlace(path: string, handle: FileHandle): Promise<boolean> {
  const there = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  const opened = await handle.stat();
  return there?.ino === opened.ino && there.dev === opened.dev;
}

/** The part of an open journal that does not depend on who writes it. */
abstract class OpenJournal extends StateView {
  protected readonly path: string;
  protected readonly handle: FileHandle;
  readonly #reader: ResultReader;
  #closing: Promise<void> | undefined;

  constructor(path: string, handle: FileHandle, state: JournalState) {
    super(state);
    this.path = path;
    this.handle = handle;
    this.#reader = new ResultReader(handle);
  }

  /** End of the lines that are known and won't change, in bytes. */
  protected abstract get end(): number;

  protected override async readResult(row: number, offset: number): Promise<RowResult> {
    const result = await this.#reader.read(offset, this.end);
    if (result?.row === row) return result;
    throw replacedJournal(this.path, `byte ${offset} is no longer the beginning of row ${row}'s result`);
  }

  close(): Promise<void> {
    this.#closing ??= this.finish().then(() => this.handle.close());
    return this.#closing;
  }

  /** Waits for what must be done before the file is closed. */
  protected abstract finish(): Promise<void>;
}

/** A journal that this process writes. */
export class AppendableJournal extends OpenJournal implements Journal {
  onFinished: (results: readonly RowResult[]) => void = () => {};
  readonly #writer: GroupWriter;
  readonly #lost = deferred<Error>();
  #looks: Repeated | undefined;

  constructor(path: string, handle: FileHandle, state: JournalState, writer: GroupWriter) {
    super(path, handle, state);
    this.#writer = writer;
  }

  get lost(): Promise<Error> {
    // A disk that does not answer is no proof that the file has gone.
    this.#looks ??= repeat(() => this.#look(), { everyMs: lookMs });
    return this.#lost.promise;
  }

  async isIntact(): Promise<boolean> {
    try {
      if (!(await isInPlace(this.path, this.handle))) return false;
      return (await this.handle.stat()).size >= this.end;
    } catch {
      return false;
    }
  }

  async append(entries: readonly JournalEntry[]): Promise<readonly RowResult[]> {
    const results = await this.#writer.append(entries);
    this.onFinished(results);
    return results;
  }

  protected override get end(): number {
    return this.#writer.end;
  }

  protected override finish(): Promise<void> {
    void this.#looks?.stop();
    return this.#writer.idle();
  }

  async #look(): Promise<void> {
    if (!(await isInPlace(this.path, this.handle))) this.#lost.resolve(removedJournal(this.path));
  }
}

/** A journal that another process may be writing. */
export class WatchedJournal extends OpenJournal implements JournalReader {
  readonly #tail: JournalTail;
  #refreshing: Promise<void> | undefined;

  constructor(path: string, handle: FileHandle, state: JournalState, tail: JournalTail) {
    super(path, handle, state);
    this.#tail = tail;
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh();
    return this.#refreshing;
  }

  protected override get end(): number {
    return this.#tail.position;
  }

  protected override async finish(): Promise<void> {
    // Whoever asked for the refresh learns why it failed.
    await this.#refreshing?.catch(() => {});
  }

  async #refresh(): Promise<void> {
    try {
      await this.#tail.read();
    } finally {
      this.#refreshing = undefined;
    }
  }
}
