import { randomUUID } from 'node:crypto';
import type { IQueueBackend, Job, JobProgress, Worker } from 'bullmq';
import { after, deferred } from '../../base/async/waiting.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { bullmqOn, stallOptions } from './bullmq.ts';
import type { ClaimedBatch } from './claimed-batch.ts';
import { type LockRenewal, renewLocks } from './lock-renewal.ts';
import type { BatchJobData } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export type BatchJob = Job<BatchJobData, string>;

export interface BatchClaimsOptions {
  /** Whether to claim another batch now; asked again after `reconsider`. */
  readonly wantsMore: () => boolean;
  /** Works on a claimed batch; its errors are reported. */
  readonly work: (job: BatchJob, token: string) => Promise<void>;
  /** Called for each error of the datastore; claiming continues. */
  readonly onError: (error: Error) => void;
}

/** Pause after an error of the datastore. */
export const againAfterMs = 1_000;

/** The batches that a worker has claimed: BullMQ hands out those of the highest priority first, in order of arrival. */
export class BatchClaims {
  readonly batches = new Set<ClaimedBatch>();
  readonly locks: LockRenewal;
  readonly #options: BatchClaimsOptions;
  readonly #worker: Worker<BatchJobData, string, string, IQueueBackend, JobProgress, object>;
  readonly #isEmbedded: boolean;
  readonly #working = new Set<Promise<void>>();
  #isEnded = false;
  #claimMore = deferred();

  constructor(datastore: Datastore, queue: Pick<RowQueue, 'name'>, options: BatchClaimsOptions) {
    this.#options = options;
    this.#isEmbedded = datastore.exclusive;
    const { classes, options: bound } = bullmqOn(datastore);
    this.#worker = new classes.Worker<BatchJobData, string>(queue.name, null, {
      ...bound,
      ...stallOptions,
      autorun: false,
    });
    this.#worker.on('error', options.onError);
    this.locks = renewLocks(options.onError);
    this.locks.start(this.#worker);
    void this.#worker.startStalledCheckTimer().catch(options.onError);
  }

  /** Begins to claim. */
  begin(): void {
    void this.#claimBatches();
  }

  get readyRows(): number {
    let ready = 0;
    for (const batch of this.batches) ready += batch.readyRows;
    return ready;
  }

  /** The batch whose row starts next. */
  get nextBatch(): ClaimedBatch | undefined {
    for (const batch of this.batches) if (batch.readyRows > 0) return batch;
    return undefined;
  }

  /** Asks `wantsMore` again, and claims more if so. */
  reconsider(): void {
    this.#claimMore.resolve();
  }

  /** Claims no more batches, and hands back the rows that have not started. */
  end(): void {
    this.#isEnded = true;
    for (const batch of this.batches) batch.handBack();
    this.reconsider();
  }

  /** After `end`: waits for the rows in hand. */
  async close(): Promise<void> {
    await Promise.all(this.#working);
    // With force, BullMQ does not wait for the next batch to claim; no batch is in hand here.
    await this.#worker.close(true);
    // On PostgreSQL, BullMQ still waits for up to five seconds. On Redis, this would also close a shared connection.
    if (this.#isEmbedded) await this.#worker.disconnect();
  }

  async #claimBatches(): Promise<void> {
    const { wantsMore, work, onError } = this.#options;
    while (!this.#isEnded) {
      if (!wantsMore()) {
        this.#claimMore = deferred();
        await this.#claimMore.promise;
        continue;
      }
      const token = randomUUID();
      try {
        const job = (await this.#worker.getNextJob(token)) as BatchJob | undefined;
        if (job === undefined) continue;
        const working = work(job, token).catch(onError);
        this.#working.add(working);
        void working.then(() => this.#working.delete(working));
      } catch (error) {
        if (this.#isEnded) return;
        onError(error as Error);
        await after(againAfterMs);
      }
    }
  }
}
