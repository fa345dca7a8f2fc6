import { steadyNow } from '../../../base/async/clock.ts';
import { bytesOf, type RowTask } from '../../queue/payload.ts';
import type { FeedWindow } from './feed-window.ts';
import type { RowOrder } from './row-order.ts';

export interface FeedOptions {
  readonly tasks: AsyncIterable<Iterable<RowTask>>;
  readonly rowsInDatastore: ReadonlySet<number>;
  readonly isFinished: (row: number) => boolean;
  readonly order?: RowOrder | undefined;
  readonly now?: () => number;
}

const rowsInOneWrite = 1_000;

/** Rows to feed: first rows that were handed back and are due, then rows that waited for another row, then new rows. */
export class Feed {
  readonly #parts: AsyncIterator<Iterable<RowTask>>;
  #readRows: Iterator<RowTask> | undefined;
  readonly #options: FeedOptions;
  readonly #now: () => number;
  /** Rows that were handed back, by due time. */
  readonly #unfinishedRows: { readonly task: RowTask; readonly dueAt: number }[] = [];
  #isReadToEnd = false;

  constructor(options: FeedOptions) {
    this.#parts = options.tasks[Symbol.asyncIterator]();
    this.#options = options;
    this.#now = options.now ?? steadyNow;
  }

  get isDone(): boolean {
    return this.#isReadToEnd && this.#unfinishedRows.length === 0 && (this.#options.order?.isEmpty ?? true);
  }

  /** The time until a row that was handed back is due. */
  get dueInMs(): number | undefined {
    const [first] = this.#unfinishedRows;
    return first && Math.max(0, first.dueAt - this.#now());
  }

  feedAgain(task: RowTask, delayMs: number): void {
    const dueAt = this.#now() + delayMs;
    let index = this.#unfinishedRows.length;
    while (index > 0 && (this.#unfinishedRows[index - 1]?.dueAt ?? 0) > dueAt) index -= 1;
    this.#unfinishedRows.splice(index, 0, { task, dueAt });
  }

  /** The next batches, for one write to the journal. */
  async nextBatches(window: Pick<FeedWindow, 'nextBatch' | 'room'>): Promise<RowTask[][]> {
    const batches: RowTask[][] = [];
    let rows = 0;
    do {
      const batch: RowTask[] = [];
      const most = window.nextBatch;
      let bytes = 0;
      while (batch.length < most.rows && bytes < most.bytes) {
        const task = this.take() ?? (await this.next());
        if (task === undefined) break;
        batch.push(task);
        bytes += bytesOf(task);
      }
      if (batch.length === 0) break;
      batches.push(batch);
      rows += batch.length;
    } while (rows < Math.min(rowsInOneWrite, window.room));
    return batches;
  }

  async next(): Promise<RowTask | undefined> {
    for (;;) {
      const task = this.take();
      if (task !== undefined || this.#isReadToEnd || this.#options.order?.isFull) return task;
      const { done, value } = await this.#parts.next();
      if (done) this.#isReadToEnd = true;
      else this.#readRows = value[Symbol.iterator]();
    }
  }

  /** The next row that needs no wait: a row that was handed back, is no longer held, or was read already. */
  take(): RowTask | undefined {
    const { order } = this.#options;
    const [first] = this.#unfinishedRows;
    if (first !== undefined && first.dueAt <= this.#now()) {
      this.#unfinishedRows.shift();
      return first.task;
    }
    const freed = order?.takeFreedRow();
    if (freed !== undefined) return freed;
    while (this.#readRows !== undefined && !order?.isFull) {
      const { done, value } = this.#readRows.next();
      if (done) this.#readRows = undefined;
      else if (this.#admits(value)) return value;
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#isReadToEnd = true;
    this.#readRows = undefined;
    await this.#parts.return?.();
  }

  #admits(task: RowTask): boolean {
    const { rowsInDatastore, isFinished, order } = this.#options;
    if (!rowsInDatastore.has(task.row)) return order?.admit(task) ?? true;
    // The result of the row may have arrived since the row was read.
    if (!isFinished(task.row)) order?.noteOpenRow(task);
    return false;
  }
}
