import type { SavedAnswer } from '../../domain/terms.ts';
import type { ResultLine } from '../journal/line.ts';
import { Ledger } from './ledger/ledger.ts';
import { type BatchReturn, decodeLedgerEntry, type RowTask, type UnfinishedRow } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

/** The size of a batch. `bytes` are the characters in the lines of its rows. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

export interface OpenBatchOptions {
  readonly id: string;
  readonly queue: Pick<RowQueue, 'readLedger'>;
  readonly rows: readonly number[];
  readonly bytes: number;
  readonly tasks: readonly RowTask[];
}

const readAfterMs = 1_000;

export class OpenBatch {
  readonly id: string;
  readonly rows: readonly number[];
  readonly size: BatchSize;
  #firstEntryAt = Number.POSITIVE_INFINITY;
  /** Whether the command that adds the batch may be in progress: then a missing batch is not lost. */
  isAdding = false;
  isWithdrawn = false;
  /** Whether the coordinator has taken the batch back: its rows are in the journal, and no worker has it. */
  isRemovedByCoordinator = false;
  /** The rows of the batch, once this process has taken them back. This process saved the calls of earlier claims before. */
  rowsTakenBack: readonly UnfinishedRow[] = [];
  /** The outcome of the batch by its ledger, once no worker can write into the ledger. */
  outcomeOfLedger: BatchReturn | undefined;
  #collecting: Promise<void> | undefined;
  readonly #tasks: ReadonlyMap<number, RowTask>;
  readonly #queue: OpenBatchOptions['queue'];
  readonly #ledger: Ledger;
  #readEntries = 0;
  /** Answers that were taken, by row and time. */
  readonly #takenAnswers = new Set<string>();

  constructor({ id, queue, rows, bytes, tasks }: OpenBatchOptions) {
    this.id = id;
    this.#queue = queue;
    this.rows = rows;
    this.size = { rows: rows.length, bytes };
    this.#tasks = new Map(tasks.map((task) => [task.row, task]));
    this.#ledger = new Ledger(rows.map((row) => this.#tasks.get(row) ?? { row }));
  }

  get isCollected(): boolean {
    return this.#collecting !== undefined;
  }

  /** Collects once, even if the datastore delivers the batch again after this process was suspended. A failure allows another attempt. */
  collectOnce(collect: () => Promise<void>): Promise<void> {
    this.#collecting ??= collect().catch((error: Error) => {
      this.#collecting = undefined;
      throw error;
    });
    return this.#collecting;
  }

  get unfinishedCount(): number {
    return this.#ledger.unfinishedCount;
  }

  /**
   * Skips a recent batch: most complete soon, with the same results in their return values.
   *
   * @param graceMs how long after its first entry a batch is recent
   */
  async readResults(graceMs = readAfterMs): Promise<readonly ResultLine[]> {
    const first = this.#readEntries;
    const texts = await this.#queue.readLedger(this.id, first);
    const now = performance.now();
    if (texts.length > 0) this.#firstEntryAt = Math.min(this.#firstEntryAt, now);
    if (now - this.#firstEntryAt < graceMs) return [];
    // Another reader may have read some of these entries meanwhile.
    const unread = texts.slice(this.#readEntries - first);
    this.#readEntries = Math.max(this.#readEntries, first + texts.length);
    return unread.flatMap((text) => this.#ledger.apply(decodeLedgerEntry(text)));
  }

  /** @param hasEntries whether a worker has written: then a ledger without its beginning has lost entries */
  async outcomeFromLedger(hasEntries = false): Promise<BatchReturn> {
    await this.readResults(0);
    this.#ledger.doubtIntended();
    if (hasEntries && !(await this.#isWhole())) this.#ledger.doubtAll();
    return { results: this.#ledger.results(), unfinishedRows: this.#ledger.unfinishedRows() };
  }

  /** Whether the ledger still has all its entries: an entry that was read earlier may be lost since. */
  async #isWhole(): Promise<boolean> {
    const texts = await this.#queue.readLedger(this.id, 0);
    const first = texts.map(decodeLedgerEntry).find(({ type }) => type !== 'withdraw');
    return (
      texts.length >= this.#readEntries &&
      first !== undefined &&
      first.type !== 'withdraw' &&
      first.isFirst === true
    );
  }

  /** Returns each answer of the ledger and of the worker's return value once. */
  takeAnswers(returned: readonly SavedAnswer[] = []): readonly SavedAnswer[] {
    return [...this.#ledger.takeAnswers(), ...returned].filter(({ row, at }) => {
      const key = `${row} ${at}`;
      const isNew = !this.#takenAnswers.has(key);
      this.#takenAnswers.add(key);
      return isNew;
    });
  }

  /** The row as it is fed again. Undefined when only the file of rows has its line. */
  taskOf({ row, history, attemptsUsed }: UnfinishedRow): RowTask | undefined {
    const task = this.#tasks.get(row);
    return task && { ...task, history: history ?? task.history, attemptsUsed };
  }
}
