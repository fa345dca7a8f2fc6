import type { RowTask } from '../../queue/payload.ts';
import type { RunRecord } from '../record/record.ts';

/** The most rows that are held at a time, and characters of their request bodies; beyond that no more are read. */
const maxHeldRows = 20_000;
const maxHeldBytes = 32 * 1024 * 1024;

/** A subject with rows that have no result yet. */
interface BusySubject {
  /** Rows that may be called: one, unless an earlier coordinator has fed several. */
  open: number;
  /** Rows behind them, in order. */
  readonly held: RowTask[];
}

/**
 * Keeps rows that act on the same subject in their order: one of them is open at a time, from when it is admitted to when
 * its result is in the journal; those behind it are held until then. Rows must come in the manifest's order.
 */
export class RowOrder {
  readonly #maxRows: number;
  readonly #busy = new Map<string, BusySubject>();
  /** The subjects of the open rows. */
  readonly #subjects = new Map<number, string>();
  /** Open rows that were held before, and wait to be taken. */
  readonly #freed: RowTask[] = [];
  #rows = 0;
  #bytes = 0;

  /** @param maxRows held at a time; for tests */
  constructor(maxRows = maxHeldRows) {
    this.#maxRows = maxRows;
  }

  /** Whether no rows are held or wait to be taken. */
  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  /** Whether as many rows are held as may be: nothing more must be read before one is taken. */
  get isFull(): boolean {
    return this.#rows >= this.#maxRows || this.#bytes >= maxHeldBytes;
  }

  /** Whether a row is held until this one has its result. */
  isAwaited(row: number): boolean {
    return (this.#busy.get(this.#subjects.get(row) ?? '')?.held.length ?? 0) > 0;
  }

  /** The next row of the manifest. @returns whether it may be called now; else it is held */
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

  /** The next row of the manifest was fed by an earlier coordinator, and has no result yet. */
  opened(task: RowTask): void {
    const subject = subjectOf(task);
    const busy = this.#busy.get(subject);
    if (busy === undefined) this.#busy.set(subject, { open: 1, held: [] });
    else busy.open += 1;
    this.#subjects.set(task.row, subject);
  }

  /** The row has its result. @returns whether another one may be taken now */
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

  /** A row that was held and may be called now, if there is one. */
  take(): RowTask | undefined {
    const task = this.#freed.shift();
    if (task === undefined) return undefined;
    this.#rows -= 1;
    this.#bytes -= task.body.length;
    return task;
  }
}

function subjectOf({ operation, subject }: RowTask): string {
  return `${operation}\0${subject}`;
}

/** Whether the order matters in which rows of the same subject are called. */
export function keepsOrder({ options, plan }: RunRecord): boolean {
  return options.onConflict === 'in-order' && plan.conflicts !== 0;
}
