import { deferred } from '../../waiting.ts';

/**
 * How much of a run the datastore holds at a time: some seconds of work. Less would leave workers idle; more would
 * make rows that wait for a retry starve behind the backlog, and progress and cancelling coarse.
 */

const secondsOfWork = 4;
/** With a known limit on the rate, calls may take longer than the window is wide: more rows must be ready. */
const secondsAtFixedRate = 10;
const maxOpenRows = 5_000;
/** As long as the rate is not known: enough for several machines, little enough for the slowest API. */
const firstOpenRows = 500;
const maxOpenBytes = 32 * 1024 * 1024;
/** Finished rows wait in the datastore until their batch is complete: that many windows of them at the most. */
const heldWindows = 8;
/** Until the rate is known. */
const firstBatchRows = 25;
const maxBatchRows = 250;
/** At the end smaller ones are not worth their commands. */
const lastBatchRows = 10;
const maxBatchBytes = 4 * 1024 * 1024;
/** The rate is measured over about that many seconds. */
const memorySeconds = 3;

export interface FeedWindowOptions {
  /** Calls in flight at once, to begin with. */
  readonly concurrency: number;
  /** Calls per second that the user allows, if limited. */
  readonly ratePerSecond?: () => number | undefined;
  /** Workers that share the rows. Default: one. */
  readonly workers?: () => number;
  /** Rows of the run that have no result. Default: more than matter. */
  readonly unfinished?: () => number;
  /** Monotonic milliseconds; for tests. */
  readonly now?: () => number;
}

export class FeedWindow {
  /** Calls in flight at once. */
  concurrency: number;
  readonly #options: FeedWindowOptions;
  readonly #now: () => number;
  #openRows = 0;
  #heldRows = 0;
  #heldBytes = 0;
  /** A weighted mean of the rate, and the weights it is made of: at first they do not add up to 1. */
  #weightedRate = 0;
  #weights = 0;
  #finishedSince = 0;
  #since: number;
  #change = deferred();

  constructor(options: FeedWindowOptions) {
    this.#options = options;
    this.concurrency = options.concurrency;
    this.#now = options.now ?? (() => performance.now());
    this.#since = this.#now();
  }

  /** Rows that are worth having open now. */
  get limit(): number {
    const ratePerSecond = this.#options.ratePerSecond?.();
    const work = this.#weights === 0 ? firstOpenRows : (this.#weightedRate / this.#weights) * secondsOfWork;
    const wanted = Math.max(2 * this.concurrency, Math.ceil(work));
    const allowed =
      ratePerSecond === undefined ? maxOpenRows : Math.max(4, Math.ceil(ratePerSecond * secondsAtFixedRate));
    return Math.min(wanted, allowed, maxOpenRows);
  }

  /** Whether a batch with these rows and bytes is complete: more should go into the next one. */
  isFull(rows: number, bytes: number): boolean {
    return bytes >= maxBatchBytes || rows >= this.#batchRows;
  }

  /**
   * A second of work of one worker; less while that is not known, and near the end, so that all workers have
   * something to do until then.
   */
  get #batchRows(): number {
    if (this.#weights === 0) return firstBatchRows;
    const { workers, unfinished } = this.#options;
    const sharing = Math.max(1, workers?.() ?? 1);
    const second = Math.ceil(this.limit / secondsOfWork / sharing);
    const part = Math.ceil(((unfinished?.() ?? Number.POSITIVE_INFINITY) - this.#heldRows) / (2 * sharing));
    return Math.min(maxBatchRows, second, Math.max(part, lastBatchRows));
  }

  /** Rows that may be fed now. */
  get room(): number {
    return this.limit - this.#openRows;
  }

  get hasRoom(): boolean {
    return (
      this.#openRows < this.limit &&
      this.#heldRows < this.limit * heldWindows &&
      this.#heldBytes < maxOpenBytes
    );
  }

  /** Whether everything that was fed has been collected. */
  get isEmpty(): boolean {
    return this.#heldRows === 0;
  }

  fed(rows: number, bytes: number): void {
    this.#openRows += rows;
    this.#heldRows += rows;
    this.#heldBytes += bytes;
  }

  /** A row is finished; its result waits for the rest of its batch. */
  finished(): void {
    this.#lowerOpenRows(this.#openRows - 1);
  }

  /** The datastore says how many rows are unfinished: for rows that other processes work on. */
  observed(openRows: number): void {
    this.#lowerOpenRows(openRows);
  }

  collected(rows: number, bytes: number): void {
    this.#heldRows -= rows;
    this.#heldBytes -= bytes;
    // A row that was collected is finished, whether its worker could say so or not.
    this.#lowerOpenRows(this.#heldRows);
    this.wake();
  }

  /** Resolves at the next change, or when `wake` is called. */
  changed(): Promise<void> {
    this.#change = deferred();
    return this.#change.promise;
  }

  wake(): void {
    this.#change.resolve();
  }

  #lowerOpenRows(rows: number): void {
    const finished = this.#openRows - rows;
    if (finished <= 0) return;
    this.#openRows = rows;
    this.#measure(finished);
    this.wake();
  }

  #measure(finished: number): void {
    this.#finishedSince += finished;
    const seconds = (this.#now() - this.#since) / 1_000;
    if (seconds < 0.5) return;
    const weight = 1 - Math.exp(-seconds / memorySeconds);
    this.#weightedRate += weight * (this.#finishedSince / seconds - this.#weightedRate);
    this.#weights += weight * (1 - this.#weights);
    this.#finishedSince = 0;
    this.#since = this.#now();
  }
}
