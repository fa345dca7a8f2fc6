import type { CodeTable } from './advice.ts';

const resume = 'Then type "cqbatch resume".';
const putBack = `Put the file back, also from a backup. ${resume}`;
const wait = 'Wait, then type the command again.';

/** Errors of disks, files and the state folder. */
export const fileCodes = {
  DISK_FULL: ['The disk is full, or its quota is used up.', `Free some space. ${resume}`],
  DISK_READ_ONLY: [
    'The disk is read-only.',
    `Make the disk writable, or name another folder with --state-dir.`,
  ],
  DISK_FAILED: ['The disk does not work.', `See the log of the system, and repair the disk. ${resume}`],
  FILE_FORBIDDEN: ['The user of the process may not use the file.', `Give access (chown, chmod). ${resume}`],
  FILE_IN_USE: ['Another program has the file open.', `Close that program. ${resume}`],
  TOO_MANY_FILES: ['The process has reached its limit of open files.', `Type "ulimit -n 1024". ${resume}`],
  MEMORY_LIMIT: ['The process has reached its limit of memory.', `Type "ulimit -v unlimited". ${resume}`],
  FILE_MISSING: [
    'A file or folder is not there.',
    `Put the file back, create the folder, or mount the disk. ${resume}`,
  ],
  FILE_VERSION: ['Another version wrote the file.', 'Use the version of the message.'],
  FILE_LOCKED: ['Another process changes the file.', wait],
  PATH_UNUSABLE: ['A path is no file or folder, too long or on another disk.', 'Correct the named path.'],
  FOLDER_NOT_FOUND: ['"cqbatch verify" got a folder that is not there.', 'Correct the path.'],
  STATE_DIR_MISSING: ['The state folder is a link to nothing.', 'Mount the disk, or remove the link.'],
  STATE_DIR_UNUSABLE: ['The state folder is no folder.', 'Name a folder with --state-dir.'],
  STATE_DIR_UNTRUSTED: [
    'Another user owns or may change the state folder.',
    'Look at its config.json. If you trust the folder, name the folder with --state-dir.',
  ],
  LOCK_LOST: ['Another process took over or removed the lock.', `End the other process. ${resume}`],
  LOCK_UNUSABLE: ['The folder can hold no lock.', 'Use a disk that can, best a local one.'],
  JOURNAL_MISSING: ['The journal of the run is gone.', putBack],
  JOURNAL_REMOVED: ['The journal was moved or removed during the run.', putBack],
  JOURNAL_CORRUPT: ['The journal is damaged.', `${putBack} The message says what is lost otherwise.`],
  JOURNAL_OF_OTHER_RUN: ['The journal is that of another run.', 'Put the files back into their own folders.'],
  JOURNAL_UNREADABLE: ['The journal could not be read.', `Correct the cause that is named. ${resume}`],
  JOURNAL_UNWRITABLE: ['The journal could not be written.', `Correct the cause that is named. ${resume}`],
  JOURNAL_VERSION: ['Another version wrote the journal.', 'Use the version that started the run.'],
  ROWS_MISSING: ['The rows of the run (rows.jsonl) are gone.', putBack],
  ROWS_DAMAGED: ['The rows of the run (rows.jsonl) are damaged.', putBack],
  ROWS_CHANGED: ['The rows of the run were changed after the plan. Nothing is sent.', putBack],
  RUN_UNREADABLE: ['The record of a run or plan is damaged.', 'Restore the file from a backup.'],
  SCHEDULE_UNREADABLE: ['The record of a schedule is damaged.', 'Correct the file, or move the file away.'],
  DRAFT_UNREADABLE: ['A draft of the dashboard is damaged.', 'Remove its folder, and choose the file again.'],
  INBOX_RECORD_DAMAGED: [
    'What an inbox remembers of a manifest is damaged.',
    'Restore the file from a backup. Remove the file only if "cqbatch list" shows no run that ends in the first eight characters of its name, or the manifest may run again.',
  ],
  INBOX_RECORDS_MISSING: [
    'The folder that remembers what an inbox has run is gone.',
    'Put .cqbatch-inbox back. If the folder is lost, move away what must not run again, then make the folder as the message says.',
  ],
  REPORT_UNWRITABLE: [
    'A report could not be written. The journal has all results.',
    'Free space, or close the file. Then type "cqbatch report RUN".',
  ],
  NOTES_UNWRITABLE: ['The list of what an undo leaves out could not be written.', 'Correct the named cause.'],
  OUTPUT_UNWRITABLE: [
    'Standard output could not be written. A run is complete nevertheless.',
    'Make room for the output. Then type "cqbatch show RUN".',
  ],
  XLSX_TOO_LARGE: ['The report has more columns than Excel can hold.', 'Use report.csv.'],
} as const satisfies CodeTable;
