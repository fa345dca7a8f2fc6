import { UnrecoverableError } from 'bullmq';
import { after } from '../../base/async/waiting.ts';
import { CqbatchError, errorText, fatalError } from '../../base/errors/errors.ts';
import { type Datastore, isOfAnotherEpoch } from '../datastore/datastore.ts';
import { BatchClaims, type BatchJob, retryAfterMs } from './batch-claims.ts';
import { type Claim, ClaimedBatch, type ReadyRow, type RowVerdict } from './claimed-batch.ts';
import type { LedgerLog } from './ledger/ledger-writer.ts';
import {
  type Batch,
  type BatchJobData,
  decodeBatch,
  encodeReturn,
  isBatch,
  ledgerNote,
  type RowCall,
  type RowTask,
} from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export interface BatchWorkerOptions {
  /** The number of rows that are in a call or wait for their call. */
  readonly concurrency: number;
  /** Decodes a row and makes its request, or says why this worker can't call it; another worker then gets the batch. */
  readonly prepare: (task: RowTask, run: string) => RowCall | CqbatchError;
  /** Calls a row. An exception is a defect: if the row has an intent, the attempt counts and is unclear. */
  readonly process: (task: RowCall, claim: Claim, signal: AbortSignal) => Promise<RowVerdict>;
  /** Called when a batch is unreadable, or this program has a defect. The worker then claims no more batches. */
  readonly onRefused: (reason: CqbatchError) => void;
  readonly onError: (error: Error) => void;
}

/** Claims batches, has their rows processed, and stores the outcomes. */
export class BatchWorker {
  readonly #options: BatchWorkerOptions;
  readonly #stopping = new AbortController();
  readonly #queue: RowQueue;
  readonly #claims: BatchClaims;
  readonly #datastore: Datastore;
  readonly #stopListening: () => void;
  #concurrency: number;
  #rowsInHand = 0;
  #startedRows = 0;
  #paused = false;
  #resting = false;

  constructor(datastore: Datastore, queue: RowQueue, options: BatchWorkerOptions) {
    this.#options = options;
    this.#datastore = datastore;
    this.#concurrency = options.concurrency;
    this.#stopListening = datastore.onReconnect(() => this.#handBackBatchesOfOtherEpochs());
    this.#queue = queue;
    this.#claims = new BatchClaims(datastore, queue, {
      wantsMore: () => this.#wantsMore,
      work: (job, token) => this.#work(job, token),
      onError: options.onError,
    });
    this.#claims.begin();
  }

  get rowsInHand(): number {
    return this.#rowsInHand;
  }

  get startedRows(): number {
    return this.#startedRows;
  }

  set concurrency(rows: number) {
    this.#concurrency = rows;
    this.#beginRows();
  }

  get isResting(): boolean {
    return this.#resting;
  }

  set isResting(isResting: boolean) {
    this.#resting = isResting;
    this.#beginRows();
  }

  pause(): void {
    this.#paused = true;
    this.#claims.end();
  }

  /** Stops claiming batches. After the deadline, rows in hand are aborted and handed back. */
  async stop(deadlineMs: number): Promise<void> {
    this.pause();
    const timer = setTimeout(() => this.#stopping.abort(), deadlineMs);
    try {
      await this.#claims.close();
    } finally {
      clearTimeout(timer);
      this.#stopListening();
    }
  }

  get #wantsMore(): boolean {
    if (this.#resting || this.#concurrency === 0) return false;
    return this.#rowsInHand + this.#claims.readyRows < 2 * this.#concurrency;
  }

  #beginRows(): void {
    if (this.#paused || this.#resting) return;
    while (this.#rowsInHand < this.#concurrency) {
      const batch = this.#claims.nextBatch;
      if (batch === undefined) break;
      const ready = batch.take();
      if (ready !== undefined) void this.#process(batch, ready);
    }
    if (this.#wantsMore) this.#claims.reconsider();
  }

  async #process(batch: ClaimedBatch, ready: ReadyRow): Promise<void> {
    this.#rowsInHand += 1;
    this.#startedRows += 1;
    const { task, claim } = ready;
    let verdict: RowVerdict | undefined;
    try {
      verdict = await this.#options.process(task, claim, this.#stopping.signal);
    } catch (error) {
      this.#refuse(fatalError('DEFECT', `Row ${task.row}: ${errorText(error)}`, error));
    }
    this.#rowsInHand -= 1;
    if (verdict === undefined) batch.giveUp(ready);
    else batch.settle(ready, verdict);
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
    if (!isBatch(job.data))
      return this.#discard(job, token, 'it is not a batch of a run, or Redis has lost its data');
    const batch = this.#read(job.data);
    if (batch instanceof CqbatchError) {
      this.#refuse(batch);
      await job.moveToWait(token);
      return;
    }
    // The rows of a copied job belong to the original job, whose worker calls them: the run would not know of the copy's calls.
    if (!isOfRun(job)) return this.#discard(job, token, 'it is a copy of another job');
    const { id = '' } = job;
    const { locks, batches } = this.#claims;
    const lock = locks.hold(job, token, () => claimed.handBack());
    const claimed: ClaimedBatch = new ClaimedBatch({
      batch,
      claim: job.attemptsStarted,
      hasEntries: job.progress === ledgerNote,
      log: ledgerOf(job, (first) => this.#queue.readLedger(id, first)),
      isLocked: () => lock.isCertain() && !this.#isOfAnotherEpoch(batch),
      onReady: () => this.#beginRows(),
      onError: this.#options.onError,
    });
    batches.add(claimed);
    try {
      await claimed.begin();
      if (this.#isOfAnotherEpoch(batch)) claimed.handBack();
      this.#beginRows();
      await claimed.done;
      batches.delete(claimed);
      const value = claimed.close();
      if (!claimed.isLost) await this.#complete(job, token, encodeReturn(value));
    } finally {
      lock.release();
    }
  }

  /** Whether the datastore may have forgotten a worker that called the rows of the batch. */
  #isOfAnotherEpoch({ epoch }: Pick<Batch, 'epoch'>): boolean {
    return isOfAnotherEpoch(this.#datastore, epoch);
  }

  #handBackBatchesOfOtherEpochs(): void {
    for (const claimed of this.#claims.batches) if (this.#isOfAnotherEpoch(claimed)) claimed.handBack();
  }

  /** Removes a job that is no batch of a run. None of its rows is called. */
  async #discard(job: BatchJob, token: string, reason: string): Promise<void> {
    const message = `Job ${job.id} in the queue ${this.#queue.name} is removed without a call: ${reason}.`;
    this.#options.onError(new Error(message));
    job.opts.removeOnFail = true;
    await job.moveToFailed(new UnrecoverableError(message), token, false);
  }

  async #complete(job: BatchJob, token: string, value: string): Promise<void> {
    for (;;) {
      try {
        await job.moveToCompleted(value, token, false);
        return;
      } catch (error) {
        this.#options.onError(error as Error);
        // These errors mean that another worker has claimed or completed the batch, or that no list has it.
        if (/^(Missing (key|lock)|Lock mismatch)|is not in the active state/.test((error as Error).message))
          return;
        await after(retryAfterMs);
      }
    }
  }

  #read(data: BatchJobData): Batch<RowCall> | CqbatchError {
    try {
      const batch = decodeBatch(data);
      const tasks: RowCall[] = [];
      for (const task of batch.tasks) {
        const call = this.#options.prepare(task, batch.run);
        if (call instanceof CqbatchError) return call;
        tasks.push(call);
      }
      return { ...batch, tasks };
    } catch (error) {
      if (error instanceof CqbatchError) return error;
      throw error;
    }
  }
}

/** Dashboards of BullMQ can add a job again: the copy has another id, and perhaps no parent. */
function isOfRun({ id, data, parentKey }: BatchJob): boolean {
  return parentKey !== undefined && (data.id ?? id) === id;
}

function ledgerOf(job: BatchJob, read: LedgerLog['read']): LedgerLog {
  let isNoted = false;
  return {
    async append(text) {
      if (isNoted) return job.log(text);
      // Write the note before the entry: a job with a note and without entries then shows that Redis has lost the ledger.
      const noted = job.updateProgress(ledgerNote);
      const [length] = await Promise.all([job.log(text), noted]);
      isNoted = true;
      return length;
    },
    read,
  };
}
