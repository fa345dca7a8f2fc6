import { dirname } from 'node:path';
import { CqbatchError, fatalError } from '../../base/errors/errors.ts';
import { circumstance } from '../../base/errors/system-error.ts';

/** @param line the line's number, from 1; neither this program nor a crash can have produced the line */
export function corruptJournal(path: string, line: number, problem: string): CqbatchError {
  return fatalError(
    'JOURNAL_CORRUPT',
    `${path}:${line}: ${problem}. The journal says which rows are done, so cqbatch cannot continue without it: restore the ` +
      'file from a backup, or delete this line and all lines after it, and "counts" in run.json, and accept that the ' +
      'rows in these lines may be called a second time.',
  );
}

/** The error for a journal without entries that a started run must have. */
export function lostJournal(path: string, problem: string): CqbatchError {
  return fatalError('JOURNAL_CORRUPT', `${path} ${problem}. ${withoutJournal(path)}`);
}

export function replacedJournal(path: string, problem: string): CqbatchError {
  return fatalError(
    'JOURNAL_CORRUPT',
    `${path} was changed by something else: ${problem}. Leave the files of a run to cqbatch; restore the file from a ` +
      'backup if lines are missing, then try again.',
  );
}

export function removedJournal(path: string): CqbatchError {
  return fatalError(
    'JOURNAL_REMOVED',
    `${path} was removed or replaced during the run, so results cannot be saved and the calls have ` +
      'stopped: put the file back if you moved it, then resume the run.',
  );
}

export function missingJournal(path: string, cause: unknown): CqbatchError {
  return fatalError('JOURNAL_MISSING', `${path} is missing. ${withoutJournal(path)}`, cause);
}

function withoutJournal(path: string): string {
  return (
    'It says which rows of the run are done, so cqbatch cannot continue without it: restore it from a backup, or remove the ' +
    `folder ${dirname(path)} and start a new run of the rows that you know are not done.`
  );
}

export function unreadableJournal(path: string, cause: unknown): CqbatchError {
  return (
    circumstance(cause, path) ??
    fatalError(
      'JOURNAL_UNREADABLE',
      `Cannot read ${path}: ${messageOf(cause)}. Check the permissions of the file and the health of the disk.`,
      cause,
    )
  );
}

export function unwritableJournal(path: string, cause: unknown): CqbatchError {
  if (cause instanceof CqbatchError) return cause;
  return (
    circumstance(cause, path) ??
    fatalError(
      'JOURNAL_UNWRITABLE',
      `Cannot write ${path}: ${messageOf(cause)}. Fix that, then resume the run: results that are not in the ` +
        'journal yet are collected again.',
      cause,
    )
  );
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
