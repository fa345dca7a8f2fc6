import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CqbatchError } from '../errors.ts';
import {
  lostJournal,
  missingJournal,
  removedJournal,
  unreadableJournal,
  unwritableJournal,
} from './failure.ts';
import { type Disk, GroupWriter } from './group-writer.ts';
import type { Journal, JournalReader } from './journal.ts';
import { AppendableJournal, isInPlace, WatchedJournal } from './journal-file.ts';
import { encodeHeader } from './line.ts';
import { JournalState } from './state.ts';
import { JournalTail } from './tail.ts';

export interface JournalOptions {
  /** The run that the journal belongs to; a journal of another run is refused. */
  readonly runId: string;
  /** Only look: the file must exist and is never changed. Default: false. */
  readonly readOnly?: boolean;
  /** What its record says of a run that has begun: a new journal is not begun, and one that says less is refused. */
  readonly begun?: BegunRun;
}

export interface BegunRun {
  /** Rows of its manifest. */
  readonly rows: number;
  /** Rows that had a result when the record was written. */
  readonly finished: number;
}

/**
 * Opens the journal of a run and replays it. That of a new run is created; a last line that a crash has torn is cut off.
 *
 * @throws a fatal error `JOURNAL_MISSING`, `JOURNAL_UNREADABLE`, `JOURNAL_UNWRITABLE`, `JOURNAL_CORRUPT` (with file
 *   and line), `JOURNAL_VERSION` or `JOURNAL_OF_OTHER_RUN`.
 */
export async function openJournal(
  path: string,
  options: JournalOptions & { readonly readOnly: true },
): Promise<JournalReader>;
export async function openJournal(
  path: string,
  options: JournalOptions & { readonly readOnly?: false },
): Promise<Journal>;
export async function openJournal(path: string, options: JournalOptions): Promise<Journal | JournalReader> {
  const handle = await openFile(path, options);
  try {
    const state = new JournalState();
    const { runId, begun } = options;
    const tail = new JournalTail({ path, handle, runId, state, ...(begun && { rows: begun.rows }) });
    const size = await tail.read();
    if (tail.position === 0 && (size > 0 || mustExist(options)))
      throw lostJournal(path, size === 0 ? 'is empty' : 'does not begin with the header of a journal');
    if (begun !== undefined && state.finishedCount < begun.finished) {
      throw lostJournal(
        path,
        `has lost lines: it tells of ${state.finishedCount} finished rows, run.json of ${begun.finished}`,
      );
    }
    if (options.readOnly) return new WatchedJournal(path, handle, state, tail);
    const end = await makeAppendable(path, handle, runId, { complete: tail.position, size });
    return new AppendableJournal(path, handle, state, new GroupWriter(state, diskOf(path, handle), end));
  } catch (error) {
    await handle.close();
    throw error instanceof CqbatchError ? error : unreadableJournal(path, error);
  }
}

/** Its header was on disk before anybody could know of the run. */
function mustExist({ readOnly = false, begun }: JournalOptions): boolean {
  return readOnly || begun !== undefined;
}

async function openFile(path: string, options: JournalOptions): Promise<FileHandle> {
  const access = options.readOnly ? constants.O_RDONLY : constants.O_RDWR;
  try {
    return await open(path, mustExist(options) ? access : access | constants.O_CREAT, 0o600);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' && mustExist(options)
      ? missingJournal(path, error)
      : unreadableJournal(path, error);
  }
}

/** Cuts off a torn last line and writes the header if there is none yet; returns where entries go. */
async function makeAppendable(
  path: string,
  handle: FileHandle,
  runId: string,
  { complete, size }: { readonly complete: number; readonly size: number },
): Promise<number> {
  try {
    if (size > complete) await handle.truncate(complete);
    if (complete > 0) return complete;
    const header = Buffer.from(encodeHeader(runId));
    await writeFully(handle, header, 0);
    await handle.sync();
    await syncFolder(dirname(path));
    return header.length;
  } catch (error) {
    throw unwritableJournal(path, error);
  }
}

function diskOf(path: string, handle: FileHandle): Disk {
  return {
    async persist(bytes, position) {
      if (!(await isInPlace(path, handle))) throw removedJournal(path);
      const { size } = await handle.stat();
      if (size !== position) throw new Error('another process has written to it');
      await writeFully(handle, bytes, position);
      await handle.datasync();
    },
    failure: (cause) => unwritableJournal(path, cause),
  };
}

async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

/** Makes the entry of a new file in its folder survive a power failure, where the system can do that. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
