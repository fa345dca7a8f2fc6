import type { RowResult, SavedAnswer } from '../../domain/terms.ts';
import { Ledger } from './ledger.ts';
import { type BatchReturn, decodeLedgerEntry, type Leftover, type RowTask } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

/** Rows, and characters of their request bodies. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

export interface OpenBatchOptions {
  readonly id: string;
  readonly queue: Pick<RowQueue, 'readLedger'>;
  readonly rows: readonly number[];
  readonly bytes: number;
  /** As far as known. */
  readonly tasks: readonly RowTask[];
  readonly epoch: string | undefined;
}

/** A ledger is read this long after its first entry. */
const readAfterMs = 1_000;

export class OpenBatch {
  readonly id: string;
  readonly rows: readonly number[];
  readonly size: BatchSize;
  readonly epoch: string | undefined;
  #begunAt = Number.POSITIVE_INFINITY;
  /** The command that adds it may be in progress: a missing batch is then not lost. */
  isAdding = false;
  isWithdrawn = false;
  isTaken = false;
  #collecting: Promise<void> | undefined;
  readonly #tasks: ReadonlyMap<number, RowTask>;
  readonly #queue: OpenBatchOptions['queue'];
  readonly #ledger: Ledger;
  #read = 0;
  /** Answers by row and time. */
  readonly #taken = new Set<string>();

  constructor({ id, queue, rows, bytes, tasks, epoch }: OpenBatchOptions) {
    this.id = id;
    this.epoch = epoch;
    this.#queue = queue;
    this.rows = rows;
    this.size = { rows: rows.length, bytes };
    this.#tasks = new Map(tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(rows.map((row) => this.#tasks.get(row) ?? { row }));
  }

  get isCollected(): boolean {
    return this.#collecting !== undefined;
  }

  /**
   * Collects once, even if the datastore delivers the batch again because this process was suspended until its lock expired. Retried after
   * a failure.
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
   * New results in the ledger. A recent batch is skipped: most complete soon, and their return values have the same.
   *
   * @param graceMs how long after its first entry a batch is recent
   */
  async readResults(graceMs = readAfterMs): Promise<readonly RowResult[]> {
    const first = this.#read;
    const texts = await this.#queue.readLedger(this.id, first);
    const now = performance.now();
    if (texts.length > 0) this.#begunAt = Math.min(this.#begunAt, now);
    if (now - this.#begunAt < graceMs) return [];
    // Another reader may have read some of them.
    const unread = texts.slice(this.#read - first);
    this.#read = Math.max(this.#read, first + texts.length);
    return unread.flatMap((text) => this.#ledger.apply(decodeLedgerEntry(text)));
  }

  /** The ledger as the outcome, when no worker has the batch any more. */
  async abandoned(): Promise<BatchReturn> {
    await this.readResults(0);
    this.#ledger.abandon();
    return { results: this.#ledger.results(), leftovers: this.#ledger.leftovers() };
  }

  /** Answers of the ledger and of the worker's return value, each once. */
  takeAnswers(returned: readonly SavedAnswer[] = []): readonly SavedAnswer[] {
    return [...this.#ledger.takeAnswers(), ...returned].filter(({ row, at }) => {
      const key = `${row} ${at}`;
      const isNew = !this.#taken.has(key);
      this.#taken.add(key);
      return isNew;
    });
  }

  /** The row to feed again; undefined when only the manifest has its task. */
  taskOf({ row, history, attemptsUsed }: Leftover): RowTask | undefined {
    const task = this.#tasks.get(row);
    return task && { ...task, history: history ?? task.history, attemptsUsed };
  }
}
