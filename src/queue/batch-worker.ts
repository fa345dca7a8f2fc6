import { randomUUID } from 'node:crypto';
import type { IQueueBackend, Job, JobProgress, Worker } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import { noHistory } from '../domain.ts';
import { CqbatchError, fatalError } from '../errors.ts';
import { after, deferred } from '../waiting.ts';
import { bullmqOn, stallOptions } from './bullmq.ts';
import { type Claim, ClaimedBatch, type ReadyRow, type RowVerdict } from './claimed-batch.ts';
import { type LockRenewal, renewLocks } from './lock-renewal.ts';
import { type Batch, type BatchJobData, decodeBatch, encodeReturn, type RowTask } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export interface BatchWorkerOptions {
  /** Rows in hand at the start: called, or waiting for their call. */
  readonly concurrency: number;
  /** Why this version of the program can't call a row; another worker then gets the batch. */
  readonly refusal: (task: RowTask) => CqbatchError | undefined;
  /**
   * Calls the API for a row and judges the answer. Any exception counts as a defect of this program. `signal` aborts when the
   * worker must stop.
   */
  readonly process: (task: RowTask, claim: Claim, signal: AbortSignal) => Promise<RowVerdict>;
  /**
   * Called when a batch is unreadable, or after a defect of this program. The worker stops claiming and has handed the batch
   * back.
   */
  readonly onRefused: (reason: CqbatchError) => void;
  /** Called for each error of the datastore; the worker continues. */
  readonly onError: (error: Error) => void;
}

type BatchJob = Job<BatchJobData, string>;

const againAfterMs = 1_000;

/** Claims batches from the queue, has their rows processed, and stores the outcomes in the datastore. */
export class BatchWorker {
  readonly #options: BatchWorkerOptions;
  readonly #queue: RowQueue;
  readonly #worker: Worker<BatchJobData, string, string, IQueueBackend, JobProgress, object>;
  readonly #locks: LockRenewal;
  readonly #isEmbedded: boolean;
  readonly #stopping = new AbortController();
  readonly #batches = new Set<ClaimedBatch>();
  #concurrency: number;
  #active = 0;
  #started = 0;
  #paused = false;
  #resting = false;
  readonly #working = new Set<Promise<void>>();
  /** Makes the claiming loop reconsider. */
  #claimMore = deferred();

  constructor(datastore: Datastore, queue: RowQueue, options: BatchWorkerOptions) {
    this.#options = options;
    this.#queue = queue;
    this.#isEmbedded = datastore.exclusive;
    this.#concurrency = options.concurrency;
    const { classes, options: bound } = bullmqOn(datastore);
    this.#worker = new classes.Worker<BatchJobData, string>(queue.name, null, {
      ...bound,
      ...stallOptions,
      autorun: false,
    });
    this.#worker.on('error', options.onError);
    this.#locks = renewLocks(options.onError);
    this.#locks.start(this.#worker);
    void this.#worker.startStalledCheckTimer().catch(options.onError);
    void this.#claimBatches();
  }

  get active(): number {
    return this.#active;
  }

  get started(): number {
    return this.#started;
  }

  /** Sets how many rows may be in hand at once. */
  set concurrency(rows: number) {
    this.#concurrency = rows;
    this.#beginRows();
  }

  /** Whether claiming and starting rows is suspended. */
  get resting(): boolean {
    return this.#resting;
  }

  set resting(resting: boolean) {
    this.#resting = resting;
    this.#beginRows();
  }

  /** Starts no more rows, and at once hands back rows that have not started. Rows in hand continue. */
  pause(): void {
    this.#paused = true;
    for (const batch of this.#batches) batch.handBack();
    this.#claimMore.resolve();
  }

  /** Waits for rows in hand until the deadline, then aborts them and hands them back. */
  async stop(deadlineMs: number): Promise<void> {
    this.pause();
    const timer = setTimeout(() => this.#stopping.abort(), deadlineMs);
    try {
      await Promise.all(this.#working);
      // With force, BullMQ does not wait for the next batch to claim; no batch is in hand here.
      await this.#worker.close(true);
      // On PostgreSQL, BullMQ still waits for up to five seconds. On Redis, this would also close a shared connection.
      if (this.#isEmbedded) await this.#worker.disconnect();
    } finally {
      clearTimeout(timer);
    }
  }

  async #claimBatches(): Promise<void> {
    while (!this.#paused) {
      if (!this.#wantsMore()) {
        this.#claimMore = deferred();
        await this.#claimMore.promise;
        continue;
      }
      const token = randomUUID();
      try {
        const job = (await this.#worker.getNextJob(token)) as BatchJob | undefined;
        if (job === undefined) continue;
        const working = this.#work(job, token).catch(this.#options.onError);
        this.#working.add(working);
        void working.then(() => this.#working.delete(working));
      } catch (error) {
        if (this.#paused) return;
        this.#options.onError(error as Error);
        await after(againAfterMs);
      }
    }
  }

  /** Whether the ready rows are about to run out. */
  #wantsMore(): boolean {
    if (this.#resting) return false;
    let ready = 0;
    for (const batch of this.#batches) ready += batch.readyRows;
    return this.#active + ready < 2 * this.#concurrency;
  }

  #beginRows(): void {
    if (this.#paused || this.#resting) return;
    for (const batch of this.#batches) {
      while (this.#active < this.#concurrency && batch.readyRows > 0) {
        const ready = batch.take();
        if (ready !== undefined) void this.#process(batch, ready);
      }
    }
    if (this.#wantsMore()) this.#claimMore.resolve();
  }

  async #process(batch: ClaimedBatch, ready: ReadyRow): Promise<void> {
    this.#active += 1;
    this.#started += 1;
    const { task, claim } = ready;
    let verdict: RowVerdict;
    try {
      verdict = await this.#options.process(task, claim, this.#stopping.signal);
    } catch (error) {
      verdict = { kind: 'returned', history: task.history ?? noHistory };
      this.#refuse(fatalError('DEFECT', `Row ${task.row}: ${(error as Error).message}`, error));
    }
    this.#active -= 1;
    batch.settle(ready, verdict);
    this.#beginRows();
  }

  #refuse(reason: CqbatchError): void {
    this.pause();
    this.#options.onRefused(reason);
  }

  async #work(job: BatchJob, token: string): Promise<void> {
    if (this.#paused) {
      await job.moveToWait(token);
      return;
    }
    const batch = this.#read(job.data);
    if (batch instanceof CqbatchError) {
      this.#refuse(batch);
      await job.moveToWait(token);
      return;
    }
    const { id = '' } = job;
    const lock = this.#locks.hold(job, token, () => claimed.handBack());
    const claimed: ClaimedBatch = new ClaimedBatch({
      batch,
      claim: job.attemptsStarted,
      log: { append: (text) => job.log(text), read: (first) => this.#queue.readLedger(id, first) },
      isLocked: () => lock.isHeld(),
      onReady: () => this.#beginRows(),
      onError: this.#options.onError,
    });
    this.#batches.add(claimed);
    try {
      await claimed.begin();
      this.#beginRows();
      await claimed.done;
      this.#batches.delete(claimed);
      const value = claimed.close();
      if (!claimed.isLost) await this.#complete(job, token, encodeReturn(value));
    } finally {
      lock.release();
    }
  }

  /** Completes a batch. Until then it belongs to this worker. */
  async #complete(job: BatchJob, token: string, value: string): Promise<void> {
    for (;;) {
      try {
        await job.moveToCompleted(value, token, false);
        return;
      } catch (error) {
        this.#options.onError(error as Error);
        // BullMQ's messages for a batch that another worker has claimed or completed.
        if (/^(Missing (key|lock)|Lock mismatch)|is not in the active state/.test((error as Error).message))
          return;
        await after(againAfterMs);
      }
    }
  }

  /** @returns the batch, or why this version of the program can't call it */
  #read(data: BatchJobData): Batch | CqbatchError {
    try {
      const batch = decodeBatch(data);
      const refusals = batch.tasks.map(this.#options.refusal);
      return refusals.find((refusal) => refusal !== undefined) ?? batch;
    } catch (error) {
      if (error instanceof CqbatchError) return error;
      throw error;
    }
  }
}
