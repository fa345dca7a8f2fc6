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

/** Pause before a batch is added again that could not be, in milliseconds. */
const addAgainMs = 1_000;
/** The states of a run's batches: waiting for their worker, then for being collected. */
const unfinished = ['waiting-children', 'waiting', 'prioritized', 'active', 'delayed'] as const;

/** A row that was handed back. */
export interface HandedBack extends Leftover {
  /** The row as it is to be fed again; absent when only the manifest knows it. */
  readonly task?: RowTask;
}

/** What a batch has come to. */
export interface CollectedBatch extends BatchSize {
  readonly results: readonly RowResult[];
  readonly leftovers: readonly HandedBack[];
  /** Rows of which the datastore says nothing, though nobody took them back. */
  readonly missing: readonly number[];
}

export interface BatchQueueOptions {
  readonly runId: string;
  readonly rows: RowQueue;
  readonly policy: RetryPolicy;
  /** Takes over what a batch has come to; the datastore forgets it when it resolves, and hands it out again if it rejects. */
  readonly collect: (batch: CollectedBatch) => Promise<void>;
  /** Called with results of batches that are still open. They come again when these are collected. */
  readonly onResults: (results: readonly RowResult[]) => Promise<void>;
  /** Called with answers of the API before the results that they led to, where the policy wants them. */
  readonly onAnswers: (answers: readonly SavedAnswer[]) => Promise<void>;
  /** Called with the rows of a batch that the datastore has lost. They were fed, and may have been called. */
  readonly onVanished: (rows: readonly number[], size: BatchSize) => Promise<void>;
  /** Errors of the datastore, one by one; the queue goes on by itself. */
  readonly onError: (error: Error) => void;
}

/** The batches of one run: added as flows, collected when their worker is done with them. */
export type BatchQueue = Awaited<ReturnType<typeof openBatchQueue>>;

/** Opens the batches of a run, which no other process may have open, and begins to collect those that are done. */
export async function openBatchQueue(datastore: Datastore, options: BatchQueueOptions) {
  const { runId, rows } = options;
  const { classes, options: bound, producerOptions } = bullmqOn(datastore);
  // Nobody else listens there.
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
      // Completed here, it would be lost for the coordinator that has added it: this one was suspended, or ends.
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
    // A batch that was being collected when its process died: nobody else can be at it. One that could not be collected is due
    // by a clock that may have been set back since.
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
      /** Every row in it, finished or not; not those of a batch that was taken out. */
      rows: new Set(held.flatMap(({ rows }) => rows)),
    };
  }

  /** A process of the run that made the datastore forget it may have died on the way, or older data may say that it did. */
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

  /** Takes a batch out if nobody has it, and else asks for it back. */
  async function drainOne(
    id: string,
    batch: OpenBatch,
    save: (taken: BatchReturn) => Promise<void>,
  ): Promise<void> {
    const since = performance.now();
    const child = await rows.job(id);
    if (child === undefined) return;
    // Also where nobody has it: a worker that had it until it was suspended finds that before its next call.
    batch.isWithdrawn ||= await ifJobThere(child.log(encodeLedgerEntry({ type: 'withdraw' })));
    if (!batch.isWithdrawn || (await child.isActive())) return;
    const taken = await batch.abandoned((first) => rows.readLedger(id, first));
    await saveAnswers(batch);
    // A worker that has claimed it since knows which of its intents led to no call. What it returns has the last word.
    if (batch.isCollected || !(await child.isWaiting())) return;
    await save(taken);
    const job = await queue.getJob(id);
    if (job === undefined || !(await ifJobThere(job.updateData({ ...job.data, taken: true })))) return;
    // Whoever has claimed it meanwhile has it still, unless that was long ago: BullMQ removes nothing that is locked.
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
    // By their ids, not by how many there are: there may be some of another coordinator of the run.
    const there = new Set(await queue.getRanges([...unfinished], 0, -1));
    const missing = [...open].filter(([id]) => !there.has(id));
    await Promise.all(missing.map(([id, batch]) => lookFor(id, batch)));
  }

  /** A batch that is done is there until it has been collected; what is being taken over can't be lost any more. */
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
    /** What an earlier process of the run left there, and what is now looked after here. */
    recovered,
    /** Unfinished rows in the datastore, as far as is known since the last `refresh`. */
    get openRows(): number {
      return [...open.values()].reduce((sum, { unfinishedRows }) => sum + unfinishedRows, 0);
    },
    /** Reads what workers have written of batches that stay open, and whether the datastore still has all batches. */
    async refresh(): Promise<void> {
      await tellNews([...open]);
      await goOn();
      await lookForAll();
    },
    /** Reads at once what workers have written of the batches with such a row. */
    async lookAfter(isAwaited: (row: number) => boolean): Promise<void> {
      await tellNews(
        [...open].filter(([, batch]) => batch.rows.some(isAwaited)),
        0,
      );
    },
    /**
     * Adds rows as one batch, all or nothing; at least one. Waits for a datastore that does not answer. Aborted, it leaves
     * open whether the batch was added.
     *
     * @param into the epoch of the datastore, as it is known: what was added to it is lost in another one
     */
    async add(tasks: readonly RowTask[], signal: AbortSignal, into?: string): Promise<void> {
      // In both queues; never used again, so that nobody takes a later batch for this one.
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
          // Its reply may have been lost, not the batch: a second one of the same rows would call them again.
          mayBeAdded ||= !isQueueRefusal(error);
          await orAborted(after(addAgainMs), signal);
          batch.isAdding = !signal.aborted && (await isNotThere(id, batch));
          if (!batch.isAdding || !mayBeAdded || (await isStill(into))) continue;
          // It may have been there, and its rows called, before the datastore lost it.
          batch.isAdding = false;
          await lookFor(id, batch);
        }
      }
    },
    /**
     * Takes the batches that no worker has out of the datastore, after `save` has got what they went through, and asks
     * for the others back.
     */
    async drain(save: (taken: BatchReturn) => Promise<void>): Promise<void> {
      for (const [id, batch] of open) if (!batch.isTaken) await drainOne(id, batch, save);
    },
    /** Collects no more, and takes the last traces of the run out of the datastore. All batches must be collected. */
    async forget(): Promise<void> {
      await collector.close();
      await obliterate(queue);
    },
    /** Waits for a collection that is going on. */
    async close(): Promise<void> {
      await collector.close();
      await Promise.all([producer.close(), queue.close()]);
    },
  };
}

const nothing: BatchReturn = { results: [], leftovers: [] };

/** Whether a process of the run took a batch out that has no child any more, and died before it was collected. */
async function isTaken(job: Job<RunBatchData>): Promise<boolean> {
  return job.data.taken === true && Object.keys(await job.getChildrenValues()).length === 0;
}
