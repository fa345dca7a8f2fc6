import { bytesOf, type RowTask } from '../../queue/payload.ts';
import { decodeCallable } from '../../rows/row-line.ts';
import type { RunRecord } from '../record/record.ts';

/** At these limits of held rows and of the characters in their values, reading pauses. */
const maxHeldRows = 20_000;
const maxHeldBytes = 32 * 1024 * 1024;

interface BusySubject {
  /** Rows that may be called. Usually 1; more when a crashed coordinator had already fed them. */
  open: number;
  readonly held: RowTask[];
}

/**
 * Keeps one row of a subject open at a time, until its result is in the journal, and holds the next rows. Rows must come in the order of
 * the manifest.
 */
export class RowOrder {
  readonly #maxRows: number;
  readonly #busy = new Map<string, BusySubject>();
  /** Subjects of open rows, by row. */
  readonly #subjects = new Map<number, string>();
  /** Rows that were held, and can be taken. */
  readonly #freed: RowTask[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(maxRows = maxHeldRows) {
    this.#maxRows = maxRows;
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  /** Whether no more rows can be held: take a row before reading another. */
  get isFull(): boolean {
    return this.#rows >= this.#maxRows || this.#bytes >= maxHeldBytes;
  }

  /** Whether another row is held until this row has its result. */
  isAwaited(row: number): boolean {
    return (this.#busy.get(this.#subjects.get(row) ?? '')?.held.length ?? 0) > 0;
  }

  /** @returns false if the row is held, because another row of its subject is open */
  admit(task: RowTask): boolean {
    const busy = this.#busy.get(entryOf(task));
    if (busy === undefined) {
      this.opened(task);
      return true;
    }
    busy.held.push(task);
    this.#rows += 1;
    this.#bytes += bytesOf(task);
    return false;
  }

  /** Registers a row that an earlier coordinator fed. */
  opened(task: RowTask): void {
    const subject = entryOf(task);
    const busy = this.#busy.get(subject);
    if (busy === undefined) this.#busy.set(subject, { open: 1, held: [] });
    else busy.open += 1;
    this.#subjects.set(task.row, subject);
  }

  /** @returns whether another row can be taken now */
  finished(row: number): boolean {
    const subject = this.#subjects.get(row);
    const busy = subject === undefined ? undefined : this.#busy.get(subject);
    if (subject === undefined || busy === undefined) return false;
    this.#subjects.delete(row);
    busy.open -= 1;
    if (busy.open > 0) return false;
    const next = busy.held.shift();
    if (next === undefined) {
      this.#busy.delete(subject);
      return false;
    }
    busy.open = 1;
    this.#subjects.set(next.row, subject);
    this.#freed.push(next);
    return true;
  }

  take(): RowTask | undefined {
    const task = this.#freed.shift();
    if (task === undefined) return undefined;
    this.#rows -= 1;
    this.#bytes -= bytesOf(task);
    return task;
  }
}

function entryOf({ operation, line }: RowTask): string {
  return subjectOf({ operation: operation.name, subject: decodeCallable(line, operation).subject });
}

export function subjectOf({ operation, subject }: Record<'operation' | 'subject', string>): string {
  return `${operation}\0${subject}`;
}

export function keepsOrder({ options, plan }: RunRecord): boolean {
  return options.onConflict === 'in-order' && plan.conflicts !== 0;
}
