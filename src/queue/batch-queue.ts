import { randomUUID } from 'node:crypto';
import type { Job } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowResult, SavedAnswer } from '../domain.ts';
import { after, orAborted } from '../waiting.ts';
import { bytesOf, flowOf, type RunBatchData, rowsOf } from './batch-flow.ts';
import {
  bullmqOn,
  ifJobThere,
  isQueueRefusal,
  lockMs,
  obliterate,
  promote,
  shortEventStream,
  stallOptions,
} from './bullmq.ts';
import { renewLocks } from './lock-renewal.ts';
import { type BatchSize, OpenBatch } from './open-batch.ts';
import {
  type BatchReturn,
  decodeBatch,
  decodeReturn,
  encodeLedgerEntry,
  type Leftover,
  type RetryPolicy,
  type RowTask,
} from './payload.ts';
import type { RowQueue } from './row-queue.ts';

/** Pause before adding a batch is tried again, in milliseconds. */
const addAgainMs = 1_000;
/** The states of a run's batches: waiting for their worker, then for their collection. */
const unfinished = ['waiting-children', 'waiting', 'prioritized', 'active', 'delayed'] as const;

/** A row that was handed back. */
export interface HandedBack extends Leftover {
  /** The row for feeding it again; absent when only the manifest has it. */
  readonly task?: RowTask;
}

/** The outcome of a batch. */
export interface CollectedBatch extends BatchSize {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly HandedBack[];
  /** Rows without a result or leftover in the datastore, though they were not handed back. */
  readonly missing: readonly number[];
}

export interface BatchQueueOptions {
  readonly runId: string;
  readonly rows: RowQueue;
  readonly policy: RetryPolicy;
  /**
   * Takes over the outcome of a batch. The datastore forgets it when this resolves, and hands it out again when this rejects.
   */
  readonly collect: (batch: CollectedBatch) => Promise<void>;
  /** Called with results of batches that are still open. They come again when these batches are collected. */
  readonly onResults: (results: readonly RowResult[]) => Promise<void>;
  /** Called with answers of the API, before the results that follow from them, if the policy asks for answers. */
  readonly onAnswers: (answers: readonly SavedAnswer[]) => Promise<void>;
  /** Called with the rows of a batch that the datastore has lost. They were fed, and may have been called. */
  readonly onVanished: (rows: readonly number[], size: BatchSize) => Promise<void>;
  /** Errors of the datastore, one by one; the queue continues by itself. */
  readonly onError: (error: Error) => void;
}

/** The batches of one run: added as flows, collected when their worker is done with them. */
export type BatchQueue = Awaited<ReturnType<typeof openBatchQueue>>;

/** Opens the batches of a run, which no other process may have open, and begins to collect those that are done. */
export async function openBatchQueue(datastore: Datastore, options: BatchQueueOptions) {
  const { runId, rows } = options;
  const { classes, options: bound, producerOptions } = bullmqOn(datastore);
  // No other process listens on this queue.
  const name = `batches-${runId}`;
  const queue = new classes.Queue<RunBatchData>(name, { ...bound, ...shortEventStream });
  const producer = new classes.FlowProducer(producerOptions);
  queue.on('error', options.onError);
  producer.on('error', options.onError);

  /** Batches that are not collected, by id, and the ids of all that were. */
  const open = new Map<string, OpenBatch>();
  const known = new Set<string>();
  const locks = renewLocks(options.onError);
  const collector = new classes.Worker<RunBatchData, null>(
    name,
    async (job, token) => {
      const { id = '' } = job;
      // Completed here, the batch would be lost to the coordinator that added it: that one was suspended, or is ending.
      if (!known.has(id)) throw new Error(`batch ${id} belongs to another coordinator of the run`);
      const batch = open.get(id);
      const lock = locks.hold(job, token);
      try {
        await batch?.collectOnce(() => collect(job, batch));
      } finally {
        lock.release();
      }
      return null;
    },
    { ...bound, ...stallOptions, concurrency: 2, autorun: false },
  );
  collector.on('error', options.onError);
  locks.start(collector);

  const recovered = await recover();
  void collector.run().catch(options.onError);

  function keep(id: string, batch: OpenBatch): void {
    known.add(id);
    open.set(id, batch);
  }

  async function recover() {
    await goOn();
    // These batches were being collected when their process died: no other process collects them. A batch whose collection
    // failed is due by a clock that may have been set back since.
    for (const job of await queue.getActive()) await job.moveToWait('0');
    for (const job of await queue.getDelayed()) await promote(job);
    for (const job of await queue.getJobs()) {
      const { id = '', data } = job;
      const child = await rows.job(id);
      const tasks = child === undefined ? [] : decodeBatch(child.data).tasks;
      const batch = new OpenBatch(rowsOf(data), data.bytes, tasks);
      batch.isTaken = child === undefined && (await isTaken(job));
      keep(id, batch);
    }
    const batches = [...open.values()];
    const held = batches.filter(({ isTaken }) => !isTaken);
    return {
      batches: batches.map(({ size }): BatchSize => size),
      /** Every row in these batches, finished or not, except those of batches that were taken out. */
      rows: new Set(held.flatMap(({ rows }) => rows)),
    };
  }

  /** A process of the run that made the datastore forget the batch may have died on the way, or older data may say so. */
  async function goOn(): Promise<void> {
    if (await queue.isPaused()) await queue.resume();
  }

  async function collect(job: Job<RunBatchData>, batch: OpenBatch): Promise<void> {
    const [value] = Object.values(await job.getChildrenValues());
    const { results, leftovers, answers } = value === undefined ? nothing : decodeReturn(value);
    await saveAnswers(batch, answers);
    const told = new Set([...results, ...leftovers].map(({ row }) => row));
    await options.collect({
      ...batch.size,
      results,
      leftovers: leftovers.map((leftover) => {
        const task = batch.taskOf(leftover);
        return { ...leftover, ...(task !== undefined && { task }) };
      }),
      missing: batch.isTaken ? [] : batch.rows.filter((row) => !told.has(row)),
    });
    open.delete(job.id ?? '');
  }

  /** Removes a batch that no worker has; asks for any other batch back. */
  async function drainOne(
    id: string,
    batch: OpenBatch,
    save: (taken: BatchReturn) => Promise<void>,
  ): Promise<void> {
    const since = performance.now();
    const child = await rows.job(id);
    if (child === undefined) return;
    // Even if no worker has it: a worker that was suspended finds this entry before its next call.
    batch.isWithdrawn ||= await ifJobThere(child.log(encodeLedgerEntry({ type: 'withdraw' })));
    if (!batch.isWithdrawn || (await child.isActive())) return;
    const taken = await batch.abandoned((first) => rows.readLedger(id, first));
    await saveAnswers(batch);
    // A worker that has claimed the batch since knows which of its intents led to no call. Its return value decides.
    if (batch.isCollected || !(await child.isWaiting())) return;
    await save(taken);
    const job = await queue.getJob(id);
    if (job === undefined || !(await ifJobThere(job.updateData({ ...job.data, taken: true })))) return;
    // A worker that has claimed the batch meanwhile still has it, unless that was long ago: BullMQ removes nothing that is
    // locked.
    if (performance.now() - since > lockMs / 2) return;
    batch.isTaken = true;
    await child.remove().catch(() => {
      batch.isTaken = false;
    });
  }

  async function saveAnswers(batch: OpenBatch, returned?: readonly SavedAnswer[]): Promise<void> {
    const answers = batch.takeAnswers(returned);
    if (answers.length > 0) await options.onAnswers(answers);
  }

  async function tellNews(of: readonly (readonly [string, OpenBatch])[], graceMs?: number): Promise<void> {
    const news = await Promise.all(
      of.map(([id, batch]) => batch.news((first) => rows.readLedger(id, first), graceMs)),
    );
    const results = news.flat();
    for (const batch of open.values()) await saveAnswers(batch);
    if (results.length > 0) await options.onResults(results);
  }

  async function lookForAll(): Promise<void> {
    // By id, not by number: batches of another coordinator of the run may be there.
    const there = new Set(await queue.getRanges([...unfinished], 0, -1));
    const missing = [...open].filter(([id]) => !there.has(id));
    await Promise.all(missing.map(([id, batch]) => lookFor(id, batch)));
  }

  /** A batch that is done stays until it has been collected; a batch that is being collected can't be lost any more. */
  async function lookFor(id: string, batch: OpenBatch): Promise<void> {
    if (batch.isAdding || !(await isNotThere(id, batch)) || !open.delete(id)) return;
    await options.onVanished(batch.rows, batch.size);
  }

  async function isNotThere(id: string, batch: OpenBatch): Promise<boolean> {
    return open.has(id) && (await queue.getJob(id)) === undefined && open.has(id) && !batch.isCollected;
  }

  async function isStill(epoch: string | undefined): Promise<boolean> {
    return epoch !== undefined && (await datastore.epoch()) === epoch;
  }

  return {
    /** What an earlier process of the run left behind, which is looked after here from now on. */
    recovered,
    /** Unfinished rows in the datastore, as known since the last `refresh`. */
    get openRows(): number {
      return [...open.values()].reduce((sum, { unfinishedRows }) => sum + unfinishedRows, 0);
    },
    /** Reads what workers have written for batches that stay open, and checks that the datastore still has all batches. */
    async refresh(): Promise<void> {
      await tellNews([...open]);
      await goOn();
      await lookForAll();
    },
    /** Reads at once what workers have written for the batches with such a row. */
    async lookAfter(isAwaited: (row: number) => boolean): Promise<void> {
      await tellNews(
        [...open].filter(([, batch]) => batch.rows.some(isAwaited)),
        0,
      );
    },
    /**
     * Adds rows as one batch, all or nothing; at least one. Waits for a datastore that does not answer. When aborted, it leaves
     * open whether the batch was added.
     *
     * @param into the known epoch of the datastore: a batch is lost if the epoch changes after it was added
     */
    async add(tasks: readonly RowTask[], signal: AbortSignal, into?: string): Promise<void> {
      // In both queues. It is never used again, so that no later batch is taken for this one.
      const id = `${runId}-b-${randomUUID()}`;
      const flow = flowOf(id, { batches: name, rows: rows.name }, { tasks, policy: options.policy });
      const added = tasks.map(({ row }) => row);
      const batch = new OpenBatch(added, bytesOf(tasks), tasks);
      let mayBeAdded = false;
      keep(id, batch);
      batch.isAdding = true;
      while (batch.isAdding) {
        try {
          await producer.add(flow);
          batch.isAdding = false;
        } catch (error) {
          if (datastore.exclusive) throw error;
          options.onError(error as Error);
          // The reply may have been lost, not the batch: a second batch of the same rows would call them again.
          mayBeAdded ||= !isQueueRefusal(error);
          await orAborted(after(addAgainMs), signal);
          batch.isAdding = !signal.aborted && (await isNotThere(id, batch));
          if (!batch.isAdding || !mayBeAdded || (await isStill(into))) continue;
          // The batch may have been there, and its rows called, before the datastore lost it.
          batch.isAdding = false;
          await lookFor(id, batch);
        }
      }
    },
    /** Removes batches that no worker has, after `save` has taken the outcome of their rows, and asks for the others back. */
    async drain(save: (taken: BatchReturn) => Promise<void>): Promise<void> {
      for (const [id, batch] of open) if (!batch.isTaken) await drainOne(id, batch, save);
    },
    /** Collects no more, and removes the last traces of the run from the datastore. All batches must be collected. */
    async forget(): Promise<void> {
      await collector.close();
      await obliterate(queue);
    },
    /** Waits for a collection that is under way. */
    async close(): Promise<void> {
      await collector.close();
      await Promise.all([producer.close(), queue.close()]);
    },
  };
}

const nothing: BatchReturn = { results: [], leftovers: [] };

/** Whether a process of the run took a batch out, which has lost its child, and died before collecting it. */
async function isTaken(job: Job<RunBatchData>): Promise<boolean> {
  return job.data.taken === true && Object.keys(await job.getChildrenValues()).length === 0;
}
