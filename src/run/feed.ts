import { steadyNow } from '../clock.ts';
import type { RowTask } from '../queue/payload.ts';

/** What is to be fed next: rows that were handed back and are due, before those that were never fed. */
export class Feed {
  readonly #fresh: AsyncIterator<RowTask>;
  readonly #skip: ReadonlySet<number>;
  readonly #now: () => number;
  /** Rows that were handed back, the one that is due first first. */
  readonly #leftovers: { readonly task: RowTask; readonly dueAt: number }[] = [];
  #isThrough = false;

  /**
   * @param tasks the rows without a result, in order
   * @param skip those of them that are fed already
   * @param now milliseconds of a clock that never jumps; for tests
   */
  constructor(tasks: AsyncIterable<RowTask>, skip: ReadonlySet<number>, now: () => number = steadyNow) {
    this.#fresh = tasks[Symbol.asyncIterator]();
    this.#skip = skip;
    this.#now = now;
  }

  /** Whether nothing is left to be fed, now or later. */
  get isDone(): boolean {
    return this.#isThrough && this.#leftovers.length === 0;
  }

  /** In how many milliseconds a row that was handed back is due; undefined: there is none. */
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

  /** The next row that may be called now; undefined: there is none at the moment. */
  async next(): Promise<RowTask | undefined> {
    const [first] = this.#leftovers;
    if (first !== undefined && first.dueAt <= this.#now()) {
      this.#leftovers.shift();
      return first.task;
    }
    while (!this.#isThrough) {
      const { done, value } = await this.#fresh.next();
      if (done) this.#isThrough = true;
      else if (!this.#skip.has(value.row)) return value;
    }
    return undefined;
  }

  /** Reads no more of the manifest. */
  async close(): Promise<void> {
    this.#isThrough = true;
    await this.#fresh.return?.();
  }
}
