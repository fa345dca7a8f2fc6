import type { RowResult, SavedAnswer } from '../domain.ts';
import { Ledger } from './ledger.ts';
import { type BatchReturn, decodeLedgerEntry, type Leftover, type RowTask } from './payload.ts';

/** What a batch weighs: rows, and characters of their request bodies. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

/** Reads a ledger from its entry of this index on. */
type ReadLedger = (first: number) => Promise<readonly string[]>;

/** The ledger of a batch that is worked on for so long is read before it is done. */
const readAfterMs = 1_000;

/** A batch that was fed and is not collected yet. */
export class OpenBatch {
  readonly rows: readonly number[];
  readonly size: BatchSize;
  /** When its ledger was first seen not to be empty. */
  #begunAt = Number.POSITIVE_INFINITY;
  /** Whether a command that adds it may be under way: then that it is not there does not mean that it is lost. */
  isAdding = false;
  /** Whether its worker knows that it is wanted back. */
  isWithdrawn = false;
  /** Whether it was taken out of the datastore. */
  isTaken = false;
  #collecting: Promise<void> | undefined;
  readonly #tasks: ReadonlyMap<number, RowTask>;
  readonly #ledger: Ledger;
  #read = 0;
  /** Answers that were taken, by row and time. */
  readonly #taken = new Set<string>();

  /** @param tasks those of its rows, as far as they are known */
  constructor(rows: readonly number[], bytes: number, tasks: readonly RowTask[]) {
    this.rows = rows;
    this.size = { rows: rows.length, bytes };
    this.#tasks = new Map(tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(rows.map((row) => this.#tasks.get(row) ?? { row }));
  }

  /** Whether what its worker returned is being taken over, or was. */
  get isCollected(): boolean {
    return this.#collecting !== undefined;
  }

  /**
   * Takes over what its worker returned. That is done once, also when the datastore hands the batch out a second time
   * meanwhile, because this process was suspended until the lock had run out. It is done again when it has failed.
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
   * What its ledger says that was not known before. A batch that was begun only just now is left alone: most are soon done,
   * and what they return says the same.
   *
   * @param graceMs how long it is left alone
   */
  async news(read: ReadLedger, graceMs = readAfterMs): Promise<readonly RowResult[]> {
    const first = this.#read;
    const texts = await read(first);
    const now = performance.now();
    if (texts.length > 0) this.#begunAt = Math.min(this.#begunAt, now);
    if (now - this.#begunAt < graceMs) return [];
    // Another reader may have read some of them meanwhile.
    const unread = texts.slice(this.#read - first);
    this.#read = Math.max(this.#read, first + texts.length);
    return unread.flatMap((text) => this.#ledger.apply(decodeLedgerEntry(text)));
  }

  /** What its ledger says, when nobody has it any more. */
  async abandoned(read: ReadLedger): Promise<BatchReturn> {
    await this.news(read, 0);
    this.#ledger.abandon();
    return { results: this.#ledger.results(), leftovers: this.#ledger.leftovers() };
  }

  /** The answers that nobody has taken yet: those that its ledger has told of, and those that its worker has returned. */
  takeAnswers(returned: readonly SavedAnswer[] = []): readonly SavedAnswer[] {
    return [...this.#ledger.takeAnswers(), ...returned].filter(({ row, at }) => {
      const key = `${row} ${at}`;
      const isNew = !this.#taken.has(key);
      this.#taken.add(key);
      return isNew;
    });
  }

  /** The row as it is to be fed again; undefined when its task is not known here. */
  taskOf({ row, history, attemptsUsed }: Leftover): RowTask | undefined {
    const task = this.#tasks.get(row);
    return task && { ...task, ...(history !== undefined && { history }), attemptsUsed };
  }
}
