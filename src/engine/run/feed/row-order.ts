import { bytesOf, type RowTask } from '../../queue/payload.ts';
import { decodeCallable } from '../../rows/row-line.ts';
import type { RunRecord } from '../record/record.ts';

/** At these limits of held rows and of the characters in their values, reading pauses. */
const maxHeldRows = 20_000;
const maxHeldBytes = 32 * 1024 * 1024;

interface BusySubject {
  /** Rows that may be called. Usually 1; more when a crashed coordinator had already fed them. */
  openRows: number;
  readonly heldRows: RowTask[];
}

/**
 * Keeps one row of a subject open at a time, until its result is in the journal, and holds the next rows. Rows must come in the order of
 * the manifest.
 */
export class RowOrder {
  readonly #maxRows: number;
  readonly #busySubjects = new Map<string, BusySubject>();
  /** Subjects of open rows, by row. */
  readonly #subjects = new Map<number, string>();
  /** Rows that were held, and can be taken. */
  readonly #freedRows: RowTask[] = [];
  #heldRows = 0;
  #heldBytes = 0;

  constructor(maxRows = maxHeldRows) {
    this.#maxRows = maxRows;
  }

  get isEmpty(): boolean {
    return this.#heldRows === 0;
  }

  /** Whether no more rows can be held: take a row before reading another. */
  get isFull(): boolean {
    return this.#heldRows >= this.#maxRows || this.#heldBytes >= maxHeldBytes;
  }

  /** Whether another row is held until this row has its result. */
  isAwaited(row: number): boolean {
    return (this.#busySubjects.get(this.#subjects.get(row) ?? '')?.heldRows.length ?? 0) > 0;
  }

  /** @returns false if the row is held, because another row of its subject is open */
  admit(task: RowTask): boolean {
    const busy = this.#busySubjects.get(subjectOfTask(task));
    if (busy === undefined) {
      this.noteOpenRow(task);
      return true;
    }
    busy.heldRows.push(task);
    this.#heldRows += 1;
    this.#heldBytes += bytesOf(task);
    return false;
  }

  /** Registers a row that an earlier coordinator fed. */
  noteOpenRow(task: RowTask): void {
    const subject = subjectOfTask(task);
    const busy = this.#busySubjects.get(subject);
    if (busy === undefined) this.#busySubjects.set(subject, { openRows: 1, heldRows: [] });
    else busy.openRows += 1;
    this.#subjects.set(task.row, subject);
  }

  /** @returns whether another row can be taken now */
  noteFinishedRow(row: number): boolean {
    const subject = this.#subjects.get(row);
    const busy = subject === undefined ? undefined : this.#busySubjects.get(subject);
    if (subject === undefined || busy === undefined) return false;
    this.#subjects.delete(row);
    busy.openRows -= 1;
    if (busy.openRows > 0) return false;
    const next = busy.heldRows.shift();
    if (next === undefined) {
      this.#busySubjects.delete(subject);
      return false;
    }
    busy.openRows = 1;
    this.#subjects.set(next.row, subject);
    this.#freedRows.push(next);
    return true;
  }

  takeFreedRow(): RowTask | undefined {
    const task = this.#freedRows.shift();
    if (task === undefined) return undefined;
    this.#heldRows -= 1;
    this.#heldBytes -= bytesOf(task);
    return task;
  }
}

function subjectOfTask({ operation, line }: RowTask): string {
  return subjectOf({ operation: operation.name, subject: decodeCallable(line, operation).subject });
}

export function subjectOf({ operation, subject }: Record<'operation' | 'subject', string>): string {
  return `${operation}\0${subject}`;
}

export function keepsOrder({ options, plan }: RunRecord): boolean {
  return options.onConflict === 'in-order' && plan.conflicts !== 0;
}
