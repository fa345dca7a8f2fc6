import { type RepeatedTask, repeat } from '../../base/async/repeat.ts';
import { withTimeout } from '../../base/async/waiting.ts';
import { type CqbatchError, fatalError } from '../../base/errors/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { BatchWorker, type BatchWorkerOptions } from '../queue/batch-worker.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { Watchdog } from './watchdog.ts';

export interface WatchedWorkerOptions extends BatchWorkerOptions {
  readonly log: Log;
  readonly isResting: () => boolean;
  /** Called when waiting rows are not taken, not even with new connections. */
  readonly onStuck: (reason: CqbatchError) => void;
}

const watchEveryMs = 5_000;
/** A datastore that takes longer to report its state counts as silent. */
const stateDeadlineMs = 10_000;

/** Replaces a worker, with new connections, when its watchdog finds a standstill. */
export class WatchedWorker {
  readonly #datastore: Datastore;
  readonly #queue: RowQueue;
  readonly #options: WatchedWorkerOptions;
  readonly #watchdog = new Watchdog();
  readonly #checks: RepeatedTask;
  #worker: BatchWorker;
  #concurrency: number;
  /** Rows that replaced workers have started. */
  #startedBefore = 0;
  #paused = false;

  constructor(datastore: Datastore, queue: RowQueue, options: WatchedWorkerOptions) {
    this.#datastore = datastore;
    this.#queue = queue;
    this.#options = options;
    this.#concurrency = options.concurrency;
    this.#worker = new BatchWorker(datastore, queue, options);
    this.#checks = repeat(() => this.#check(), { everyMs: watchEveryMs, onError: options.onError });
  }

  set concurrency(rows: number) {
    if (rows === this.#concurrency) return;
    this.#concurrency = rows;
    this.#worker.concurrency = rows;
  }

  set resting(resting: boolean) {
    this.#worker.isResting = resting;
  }

  pause(): void {
    this.#paused = true;
    void this.#checks.stop();
    this.#worker.pause();
  }

  stop(deadlineMs: number): Promise<void> {
    this.pause();
    return this.#worker.stop(deadlineMs);
  }

  async #check(): Promise<void> {
    const { log, isResting, onStuck } = this.#options;
    // A datastore that is silent without a reported outage is no excuse: assume that a row waits.
    const waiting = (await withTimeout(this.#queue.countWaiting(), stateDeadlineMs)) ?? 1;
    const isHeld = (await withTimeout(this.#queue.whyHeld(), stateDeadlineMs)) !== undefined;
    const verdict = this.#watchdog.check({
      waiting,
      active: this.#worker.rowsInHand,
      started: this.#startedBefore + this.#worker.startedRows,
      isResting: isResting() || isHeld,
      isDatastoreAway: this.#datastore.trouble !== undefined,
    });
    if (this.#paused) return;
    if (verdict === 'suspicious') log.debug({ waiting }, 'rows wait and nothing starts');
    if (verdict === 'reconnect') {
      log.warn({ waiting }, 'rows wait, but none has started for a while: connecting again');
      this.#replace();
    }
    if (verdict === 'give-up')
      onStuck(
        fatalError(
          'WORKER_STUCK',
          'Rows wait, but this worker takes none, even after it connected again. It ends, ' +
            'so that its supervisor starts a new one.',
        ),
      );
  }

  #replace(): void {
    const silent = this.#worker;
    this.#startedBefore += silent.startedRows;
    this.#worker = new BatchWorker(this.#datastore, this.#queue, {
      ...this.#options,
      concurrency: this.#concurrency,
    });
    this.#worker.isResting = silent.isResting;
    void silent.stop(0);
  }
}
