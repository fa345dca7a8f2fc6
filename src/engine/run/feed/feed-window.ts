import { deferred } from '../../../base/async/waiting.ts';

/**
 * The window is a few seconds of work. With fewer rows in the datastore, workers would be idle; with more, retries would starve behind the
 * backlog, and cancelling would be slow.
 */

const secondsOfWork = 4;
/** The seconds of work in a window with a known rate limit: calls may take longer than the usual window. */
const secondsAtFixedRate = 10;
const maxOpenRows = 5_000;
/** The rows in a window until the rate is known: enough for several machines, and little enough for the slowest API. */
const firstOpenRows = 500;
const maxOpenBytes = 32 * 1024 * 1024;
/** How many windows of rows the datastore may hold: finished rows stay until their batch is complete. */
const windowsInDatastore = 8;
/** The rows of a batch until the rate is known. */
const firstBatchRows = 25;
const maxBatchRows = 250;
/** The fewest rows of a batch near the end of a run: smaller batches cost more commands than they save. */
const fewestLastBatchRows = 10;
const maxBatchBytes = 4 * 1024 * 1024;
/** Time constant of the measured rate. */
const memorySeconds = 3;

export interface FeedWindowOptions {
  readonly concurrency: number;
  /** The user's limit of the rate: once the window was full, rows are fed no faster. */
  readonly ratePerSecond?: () => number | undefined;
  /** The number of workers that call rows. Default: 1. */
  readonly workers?: () => number;
  /** The number of rows without a result. Default: more than a window holds. */
  readonly unfinishedRows?: () => number;
  readonly now?: () => number;
}

export class FeedWindow {
  concurrency: number;
  readonly #options: FeedWindowOptions;
  readonly #now: () => number;
  #openRows = 0;
  #rowsInDatastore = 0;
  #bytesInDatastore = 0;
  /** Divide by `#weights`: at first, the mean has too little weight. */
  #weightedRate = 0;
  #weights = 0;
  #finishedSince = 0;
  #measuredAt: number;
  #change = deferred();
  /** How many rows the user's limit allows. Workers keep to the limit, but they may call faster for runs of a higher priority. */
  #allowance = { rows: maxOpenRows, at: 0 };

  constructor(options: FeedWindowOptions) {
    this.#options = options;
    this.concurrency = options.concurrency;
    this.#now = options.now ?? (() => performance.now());
    this.#measuredAt = this.#now();
  }

  get limit(): number {
    const work = this.#weights === 0 ? firstOpenRows : (this.#weightedRate / this.#weights) * secondsOfWork;
    const wanted = Math.max(2 * this.concurrency, Math.ceil(work));
    return Math.min(wanted, mostRowsAllowed(this.#options.ratePerSecond?.()));
  }

  get nextBatch(): { readonly rows: number; readonly bytes: number } {
    return { rows: Math.min(this.#batchRows, this.#allowance.rows), bytes: maxBatchBytes };
  }

  #countAllowance(): void {
    const perSecond = this.#options.ratePerSecond?.();
    const { rows, at } = this.#allowance;
    const now = this.#now();
    const earned = perSecond === undefined ? maxOpenRows : (perSecond * (now - at)) / 1_000;
    this.#allowance = { rows: Math.min(mostRowsAllowed(perSecond), rows + earned), at: now };
  }

  /** Rows of a batch: a second of one worker's work; fewer without a known rate, and near the end, so that no worker runs out early. */
  get #batchRows(): number {
    if (this.#weights === 0) return firstBatchRows;
    const { workers, unfinishedRows } = this.#options;
    const sharing = Math.max(1, workers?.() ?? 1);
    const second = Math.ceil(this.limit / secondsOfWork / sharing);
    const part = Math.ceil(
      ((unfinishedRows?.() ?? Number.POSITIVE_INFINITY) - this.#rowsInDatastore) / (2 * sharing),
    );
    return Math.min(maxBatchRows, second, Math.max(part, fewestLastBatchRows));
  }

  get room(): number {
    return Math.min(this.limit - this.#openRows, this.#allowance.rows);
  }

  get hasRoom(): boolean {
    this.#countAllowance();
    return (
      this.#allowance.rows >= 1 &&
      this.#openRows < this.limit &&
      this.#rowsInDatastore < this.limit * windowsInDatastore &&
      this.#bytesInDatastore < maxOpenBytes
    );
  }

  get isEmpty(): boolean {
    return this.#rowsInDatastore === 0;
  }

  countFed(rows: number, bytes: number): void {
    this.#openRows += rows;
    this.#rowsInDatastore += rows;
    this.#bytesInDatastore += bytes;
    this.#allowance = { ...this.#allowance, rows: this.#allowance.rows - rows };
  }

  /** Counts a finished row. Its result waits for the rest of its batch. */
  countFinished(): void {
    this.#lowerOpenRows(this.#openRows - 1);
  }

  /** @param openRows as the datastore counts them: other processes also call rows */
  observeOpenRows(openRows: number): void {
    this.#lowerOpenRows(openRows);
    if (this.hasRoom) this.wake();
  }

  countCollected(rows: number, bytes: number): void {
    this.#rowsInDatastore -= rows;
    this.#bytesInDatastore -= bytes;
    // A collected row is finished, even if its worker did not report the result.
    this.#lowerOpenRows(this.#rowsInDatastore);
    this.wake();
  }

  nextChange(): Promise<void> {
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
    if (this.hasRoom) this.wake();
  }

  #measure(finished: number): void {
    this.#finishedSince += finished;
    const seconds = (this.#now() - this.#measuredAt) / 1_000;
    if (seconds < 0.5) return;
    const weight = 1 - Math.exp(-seconds / memorySeconds);
    this.#weightedRate += weight * (this.#finishedSince / seconds - this.#weightedRate);
    this.#weights += weight * (1 - this.#weights);
    this.#finishedSince = 0;
    this.#measuredAt = this.#now();
  }
}

function mostRowsAllowed(ratePerSecond: number | undefined): number {
  if (ratePerSecond === undefined) return maxOpenRows;
  return Math.min(maxOpenRows, Math.max(4, Math.ceil(ratePerSecond * secondsAtFixedRate)));
}
