import { steadyNow } from '../../clock.ts';
import type { RowTask } from '../../queue/payload.ts';
import type { RowOrder } from './row-order.ts';

export interface FeedOptions {
  /** The rows without a result, in order. */
  readonly tasks: AsyncIterable<RowTask>;
  /** Those of them that are fed already. */
  readonly skip: ReadonlySet<number>;
  /** Whether a row has got its result meanwhile. */
  readonly isFinished: (row: number) => boolean;
  /** Keeps rows of the same subject in order; absent: their order does not matter. */
  readonly order?: RowOrder | undefined;
  /** Milliseconds of a clock that never jumps; for tests. */
  readonly now?: () => number;
}

/**
 * What is to be fed next: rows that were handed back and are due, before those that waited for the result of another, before
 * those that were never fed.
 */
export class Feed {
  readonly #fresh: AsyncIterator<RowTask>;
  readonly #options: FeedOptions;
  readonly #now: () => number;
  /** Rows that were handed back, the one that is due first first. */
  readonly #leftovers: { readonly task: RowTask; readonly dueAt: number }[] = [];
  #isThrough = false;

  constructor(options: FeedOptions) {
    this.#fresh = options.tasks[Symbol.asyncIterator]();
    this.#options = options;
    this.#now = options.now ?? steadyNow;
  }

  /** Whether nothing is left to be fed, now or later. */
  get isDone(): boolean {
    return this.#isThrough && this.#leftovers.length === 0 && (this.#options.order?.isEmpty ?? true);
  }

  /** In how many milliseconds a row that was handed back is due; undefined: no row was. */
  get dueInMs(): number | undefined {
    const [first] = this.#leftovers;
    return first && Math.max(0, first.dueAt - this.#now());
  }

  /** A row was handed back. */
  again(task: RowTask, delayMs: number): void {
    const dueAt = this.#now() + delayMs;
    let place = this.#leftovers.length;
    while (place > 0 && (this.#leftovers[place - 1]?.dueAt ?? 0) > dueAt) place -= 1;
    this.#leftovers.splice(place, 0, { task, dueAt });
  }

  /** The next row that may be called now; undefined: no row may. */
  async next(): Promise<RowTask | undefined> {
    const { order } = this.#options;
    const [first] = this.#leftovers;
    if (first !== undefined && first.dueAt <= this.#now()) {
      this.#leftovers.shift();
      return first.task;
    }
    const freed = order?.take();
    if (freed !== undefined) return freed;
    while (!this.#isThrough && !order?.isFull) {
      const { done, value } = await this.#fresh.next();
      if (done) this.#isThrough = true;
      else if (this.#admits(value)) return value;
    }
    return undefined;
  }

  /** Reads no more of the manifest. */
  async close(): Promise<void> {
    this.#isThrough = true;
    await this.#fresh.return?.();
  }

  #admits(task: RowTask): boolean {
    const { skip, isFinished, order } = this.#options;
    if (!skip.has(task.row)) return order?.admit(task) ?? true;
    // Its result may have come after the row was read.
    if (!isFinished(task.row)) order?.opened(task);
    return false;
  }
}
