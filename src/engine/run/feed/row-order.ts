import type { RowTask } from '../../queue/payload.ts';
import type { RunRecord } from '../record/record.ts';

/** The most held rows, and the most characters in their request bodies: at a limit, reading pauses. */
const maxHeldRows = 20_000;
const maxHeldBytes = 32 * 1024 * 1024;

/** A subject with rows that have no result yet. */
interface BusySubject {
  /** Rows that may be called: one, or several if an earlier coordinator fed them. */
  open: number;
  /** Rows waiting behind the open rows, in order. */
  readonly held: RowTask[];
}

/**
 * Keeps rows with the same subject in order. One of them is open at a time, from its admission until its result is in the
 * journal; the rows behind it are held. Rows must come in the order of the manifest.
 */
export class RowOrder {
  readonly #maxRows: number;
  readonly #busy = new Map<string, BusySubject>();
  /** Subject of each open row. */
  readonly #subjects = new Map<number, string>();
  /** Open rows that were held, and can be taken now. */
  readonly #freed: RowTask[] = [];
  #rows = 0;
  #bytes = 0;

  /** @param maxRows held at a time; for tests */
  constructor(maxRows = maxHeldRows) {
    this.#maxRows = maxRows;
  }

  /** Whether no row is held or can be taken. */
  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  /** Whether a limit is reached: take a row before reading another. */
  get isFull(): boolean {
    return this.#rows >= this.#maxRows || this.#bytes >= maxHeldBytes;
  }

  /** Whether another row is held until this row has its result. */
  isAwaited(row: number): boolean {
    return (this.#busy.get(this.#subjects.get(row) ?? '')?.held.length ?? 0) > 0;
  }

  /** Admits the next row of the manifest. @returns whether it may be called now; otherwise it is held */
  admit(task: RowTask): boolean {
    const busy = this.#busy.get(subjectOf(task));
    if (busy === undefined) {
      this.opened(task);
      return true;
    }
    busy.held.push(task);
    this.#rows += 1;
    this.#bytes += task.body.length;
    return false;
  }

  /** Registers a row without a result that an earlier coordinator fed. */
  opened(task: RowTask): void {
    const subject = subjectOf(task);
    const busy = this.#busy.get(subject);
    if (busy === undefined) this.#busy.set(subject, { open: 1, held: [] });
    else busy.open += 1;
    this.#subjects.set(task.row, subject);
  }

  /** Registers the result of a row. @returns whether another row can be taken now */
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

  /** Takes a row that was held and may be called now, if any. */
  take(): RowTask | undefined {
    const task = this.#freed.shift();
    if (task === undefined) return undefined;
    this.#rows -= 1;
    this.#bytes -= task.body.length;
    return task;
  }
}

/** Identifies the subject of a row among all operations. */
export function subjectOf({ operation, subject }: Pick<RowTask, 'operation' | 'subject'>): string {
  return `${operation}\0${subject}`;
}

/** Whether rows with the same subject must be called in order. */
export function keepsOrder({ options, plan }: RunRecord): boolean {
  return options.onConflict === 'in-order' && plan.conflicts !== 0;
}
