import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openFile } from '../../base/disk/open-file.ts';
import { CqbatchError } from '../../base/errors/errors.ts';
import { AppendableJournal } from './appendable-journal.ts';
import { lostJournal, missingJournal, unreadableJournal } from './failure.ts';
import type { Journal, JournalReader } from './journal.ts';
import { JournalFile } from './journal-file.ts';

export interface JournalOptions {
  readonly runId: string;
  /** Whether the file must exist and is never changed. Default: false. */
  readonly readOnly?: boolean;
  /** What the record of a started run says: its journal must have at least these results. */
  readonly recorded?: RecordedRun;
}

export interface RecordedRun {
  readonly rows: number;
  /** Rows with a result when the record was written. */
  readonly finished: number;
}

/**
 * Opens the journal of a run and replays it. Creates the journal of a new run; cuts off a last line torn by a crash.
 *
 * @throws a fatal error `JOURNAL_MISSING`, `JOURNAL_UNREADABLE`, `JOURNAL_UNWRITABLE`, `JOURNAL_CORRUPT` (with file and line),
 *   `JOURNAL_VERSION` or `JOURNAL_OF_OTHER_RUN`
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
  const { runId, readOnly = false, recorded } = options;
  // The journal of a known run must exist: its header was on disk before any process could know of the run.
  const mustExist = readOnly || recorded !== undefined;
  const handle = await openAt(path, readOnly ? constants.O_RDONLY : constants.O_RDWR, mustExist);
  try {
    const rows = recorded?.rows ?? Number.POSITIVE_INFINITY;
    const source = { path, handle, runId, rows };
    const journal = new (readOnly ? JournalFile : AppendableJournal)(source);
    const size = await journal.refresh();
    if (journal.end === 0 && (size > 0 || mustExist))
      throw lostJournal(path, size === 0 ? 'is empty' : 'does not begin with the header of a journal');
    if (recorded !== undefined && journal.finishedCount < recorded.finished) {
      throw lostJournal(
        path,
        `has lost lines: it has ${journal.finishedCount} finished rows, but run.json has ${recorded.finished}`,
      );
    }
    if (journal instanceof AppendableJournal) await journal.begin(size);
    return journal;
  } catch (error) {
    await handle.close();
    throw error instanceof CqbatchError ? error : unreadableJournal(path, error);
  }
}

async function openAt(path: string, access: number, mustExist: boolean): Promise<FileHandle> {
  try {
    return await openFile(path, { flags: mustExist ? access : access | constants.O_CREAT, mode: 0o600 });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' && mustExist
      ? missingJournal(path, error)
      : unreadableJournal(path, error);
  }
}
