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
  /** Whether the worker wants another batch. Asked before each claim, and again after `reconsider`. */
  readonly wantsMore: () => boolean;
  readonly work: (job: BatchJob, token: string) => Promise<void>;
  readonly onError: (error: Error) => void;
}

export const retryAfterMs = 1_000;

/** The batches that a worker has claimed. BullMQ hands out the highest priority first, then in order of arrival. */
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

  begin(): void {
    void this.#claimBatches();
  }

  get readyRows(): number {
    let ready = 0;
    for (const batch of this.batches) ready += batch.readyRows;
    return ready;
  }

  get nextBatch(): ClaimedBatch | undefined {
    for (const batch of this.batches) if (batch.readyRows > 0) return batch;
    return undefined;
  }

  reconsider(): void {
    this.#claimMore.resolve();
  }

  end(): void {
    this.#isEnded = true;
    for (const batch of this.batches) batch.handBack();
    this.reconsider();
  }

  async close(): Promise<void> {
    await Promise.all(this.#working);
    // With force, BullMQ's worker closes without waiting for the next batch.
    await this.#worker.close(true);
    // On PostgreSQL, BullMQ's claim still waits for up to 5 s unless disconnected. On Redis, disconnecting would close a shared connection.
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
        await after(retryAfterMs);
      }
    }
  }
}
