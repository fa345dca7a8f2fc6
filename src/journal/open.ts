import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CqbatchError } from '../errors.ts';
import { missingJournal, removedJournal, unreadableJournal, unwritableJournal } from './failure.ts';
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
  /** Refuse to begin a new journal, for a run that has begun already. Default: the value of `readOnly`. */
  readonly mustExist?: boolean;
}

/**
 * Opens the journal of a run and replays it. When it does not exist it is created; a last line that a crash has torn
 * is cut off.
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
    const tail = new JournalTail(path, handle, options.runId, state);
    const size = await tail.read();
    if (options.readOnly) return new WatchedJournal(path, handle, state, tail);
    const end = await makeAppendable(path, handle, options.runId, { complete: tail.position, size });
    return new AppendableJournal(path, handle, state, new GroupWriter(state, diskOf(path, handle), end));
  } catch (error) {
    await handle.close();
    throw error instanceof CqbatchError ? error : unreadableJournal(path, error);
  }
}

async function openFile(
  path: string,
  { readOnly = false, mustExist = readOnly }: JournalOptions,
): Promise<FileHandle> {
  const access = readOnly ? constants.O_RDONLY : constants.O_RDWR;
  try {
    return await open(path, mustExist ? access : access | constants.O_CREAT, 0o600);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' && mustExist
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
