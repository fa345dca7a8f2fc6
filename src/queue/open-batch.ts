import type { RowResult, SavedAnswer } from '../domain.ts';
import { Ledger } from './ledger.ts';
import { type BatchReturn, decodeLedgerEntry, type Leftover, type RowTask } from './payload.ts';

/** The size of a batch: rows, and characters of their request bodies. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Reads a ledger from the entry with this index. */
type ReadLedger = (first: number) => Promise<readonly string[]>;

/** A batch that has been worked on for this long has its ledger read before it is done. */
const readAfterMs = 1_000;

/** A batch that was fed and is not collected yet. */
export class OpenBatch {
  readonly rows: readonly number[];
  readonly size: BatchSize;
  /** When its ledger was first seen not to be empty. */
  #begunAt = Number.POSITIVE_INFINITY;
  /** Whether a command that adds the batch may be under way: its absence then does not mean that it is lost. */
  isAdding = false;
  /** Whether its worker knows that the batch is wanted back. */
  isWithdrawn = false;
  /** Whether it was taken out of the datastore. */
  isTaken = false;
  #collecting: Promise<void> | undefined;
  readonly #tasks: ReadonlyMap<number, RowTask>;
  readonly #ledger: Ledger;
  #read = 0;
  /** Answers already taken, by row and time. */
  readonly #taken = new Set<string>();

  /** @param tasks of its rows, as far as known */
  constructor(rows: readonly number[], bytes: number, tasks: readonly RowTask[]) {
    this.rows = rows;
    this.size = { rows: rows.length, bytes };
    this.#tasks = new Map(tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(rows.map((row) => this.#tasks.get(row) ?? { row }));
  }

  /** Whether the return value of its worker is being taken over, or was. */
  get isCollected(): boolean {
    return this.#collecting !== undefined;
  }

  /**
   * Takes over the return value of its worker. This happens once, even if the datastore hands the batch out a second time
   * because this process was suspended until the lock expired. It is repeated after a failure.
   */
  collectOnce(collect: () => Promise<void>): Promise<void> {
    this.#collecting ??= collect().catch((error: Error) => {
      this.#collecting = undefined;
      throw error;
    });
    return this.#collecting;
  }

  get unfinishedRows(): number {
    return this.#ledger.unfinishedRows;
  }

  /**
   * What the ledger says that was not known before. A batch that has only just started is left alone: most are soon done, and
   * their return values say the same.
   *
   * @param graceMs how long it is left alone
   */
  async news(read: ReadLedger, graceMs = readAfterMs): Promise<readonly RowResult[]> {
    const first = this.#read;
    const texts = await read(first);
    const now = performance.now();
    if (texts.length > 0) this.#begunAt = Math.min(this.#begunAt, now);
    if (now - this.#begunAt < graceMs) return [];
    // Another reader may have read some entries meanwhile.
    const unread = texts.slice(this.#read - first);
    this.#read = Math.max(this.#read, first + texts.length);
    return unread.flatMap((text) => this.#ledger.apply(decodeLedgerEntry(text)));
  }

  /** The content of its ledger when no worker has the batch any more. */
  async abandoned(read: ReadLedger): Promise<BatchReturn> {
    await this.news(read, 0);
    this.#ledger.abandon();
    return { results: this.#ledger.results(), leftovers: this.#ledger.leftovers() };
  }

  /** The answers not taken yet: those in its ledger, and those that its worker returned. */
  takeAnswers(returned: readonly SavedAnswer[] = []): readonly SavedAnswer[] {
    return [...this.#ledger.takeAnswers(), ...returned].filter(({ row, at }) => {
      const key = `${row} ${at}`;
      const isNew = !this.#taken.has(key);
      this.#taken.add(key);
      return isNew;
    });
  }

  /** The row for feeding it again; undefined when its task is not known here. */
  taskOf({ row, history, attemptsUsed }: Leftover): RowTask | undefined {
    const task = this.#tasks.get(row);
    return task && { ...task, ...(history !== undefined && { history }), attemptsUsed };
  }
}
