import { setTimeout as pause } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { watchClock } from '../clock.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { bullmqOn, shortEventStream, stallOptions } from './bullmq.ts';
import { type BatchSize, type CollectedBatch, readBatch, rowsOfBatch } from './collected-batch.ts';
import { delayAnew } from './delay-anew.ts';
import { renewLocks } from './lock-renewal.ts';
import { batchesQueueName, batchJobId, rowJobId } from './names.ts';
import { encodeTask, type RowTask } from './payload.ts';
import type { RowQueue } from './row-queue.ts';
import { type TakenRow, takeBack } from './take-back.ts';
import type { RetryPolicy } from './verdict.ts';

/** A collection that failed is no row's fault: it is tried until the run ends or the journal takes it. */
const collectAgain = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

/** Pause before a batch is added again that could not be, in milliseconds. */
const addAgainMs = 1_000;

export interface BatchQueueOptions {
  readonly runId: string;
  readonly rows: RowQueue;
  readonly policy: RetryPolicy;
  /**
   * Takes over the results; the datastore forgets them when it resolves, and hands them out again if it rejects.
   * `missing` are rows of the batch that the datastore does not have, though nobody took them back: BullMQ does not
   * tell when single rows of a batch could not be added.
   */
  readonly collect: (batch: CollectedBatch, missing: readonly number[]) => Promise<void>;
  /** Called with the rows of a batch that the datastore has lost. They were fed, and may have been called. */
  readonly onVanished: (rows: readonly number[], size: BatchSize) => Promise<void>;
  /** Errors of the datastore, one by one; the queue goes on by itself. */
  readonly onError: (error: Error) => void;
}

/** What the datastore held of a run when its batches were opened. */
export interface Adopted {
  readonly batches: readonly BatchSize[];
  /** Every row in it, finished or not. */
  readonly rows: ReadonlySet<number>;
}

interface OpenBatch {
  /** Absent while it is being added. */
  job?: Job<BatchSize>;
  readonly size: BatchSize;
  readonly rows: readonly number[];
  unfinished: number;
}

/** The batches of one run: added as flows, collected when all their rows are finished. */
export interface BatchQueue {
  /** What an earlier process of the run left there, and what is now looked after here. */
  readonly adopted: Adopted;
  /** Unfinished rows in the datastore, as far as is known since the last `refresh`. */
  readonly openRows: number;
  /** Asks the datastore which rows are finished, and whether it still has all batches. */
  refresh(): Promise<void>;
  /**
   * Adds rows as one batch, all or nothing: consecutive but for those that are finished already, at least one. Waits
   * for a datastore that does not answer. Aborted, it leaves open whether the batch was added.
   */
  add(tasks: readonly RowTask[], bytes: number, signal: AbortSignal): Promise<void>;
  /** Takes the rows out of the datastore that nobody is calling; what they went through is handed to `save` first. */
  takeBack(save: (rows: readonly TakenRow[]) => Promise<void>): Promise<void>;
  /** Collects no more, and takes the last traces of the run out of the datastore. All batches must be collected. */
  forget(): Promise<void>;
  /** Waits for a collection that is going on. */
  close(): Promise<void>;
}

/**
 * Opens the batches of a run, which nobody else may have open, and begins to collect those that are finished.
 */
export async function openBatchQueue(datastore: Datastore, options: BatchQueueOptions): Promise<BatchQueue> {
  const { runId, rows } = options;
  const { classes, options: bound, producerOptions } = bullmqOn(datastore);
  const name = batchesQueueName(runId);
  const queue = new classes.Queue<BatchSize>(name, { ...bound, ...shortEventStream });
  const producer = new classes.FlowProducer(producerOptions);
  queue.on('error', options.onError);
  producer.on('error', options.onError);

  /** Batches that are not collected, by id. */
  const open = new Map<string, OpenBatch>();
  const takenBack = new Set<number>();
  const locks = renewLocks(options.onError);
  const collector = new classes.Worker<BatchSize, null>(
    name,
    async (job, token) => {
      await locks.during(job, token, async () => {
        const batch = await readBatch(job);
        await options.collect(batch, missingRows(batch, open.get(job.id ?? '')?.rows ?? []));
        open.delete(job.id ?? '');
      });
      return null;
    },
    { ...bound, ...stallOptions, concurrency: 2, autorun: false },
  );
  collector.on('error', options.onError);
  locks.start(collector);
  const clock = watchClock((byMs) => {
    if (byMs < 0) delayAnew(queue).catch(options.onError);
  });

  const adopted = await adopt();
  void collector.run().catch(options.onError);

  async function adopt(): Promise<Adopted> {
    // A batch that was being collected when its process died: nobody else can be at it.
    for (const job of await queue.getActive()) await job.moveToWait('0');
    const batches: BatchSize[] = [];
    const found = new Set<number>();
    for (const job of await queue.getJobs()) {
      const members = await rowsOfBatch(job);
      const rows = [...members.finished, ...members.unfinished];
      for (const row of rows) found.add(row);
      batches.push(job.data);
      open.set(job.id ?? '', { job, size: job.data, rows, unfinished: members.unfinished.length });
    }
    return { batches, rows: found };
  }

  function missingRows({ results, abandoned }: CollectedBatch, fed: readonly number[]): readonly number[] {
    if (results.length === fed.length) return [];
    const there = new Set([...results, ...abandoned].map(({ row }) => row));
    return fed.filter((row) => !there.has(row) && !takenBack.has(row));
  }

  async function addOnce(tasks: readonly RowTask[], id: string, size: BatchSize): Promise<void> {
    const { job } = await producer.add({
      name: 'batch',
      queueName: name,
      data: size,
      opts: { jobId: id, removeOnComplete: true, ...collectAgain },
      children: tasks.map((task) => ({
        name: task.operation,
        queueName: rows.name,
        data: encodeTask(task),
        opts: {
          jobId: rowJobId(runId, task.row),
          attempts: options.policy.attempts,
          backoff: { type: 'told', delay: options.policy.backoffMs },
          removeOnComplete: true,
          removeOnFail: true,
          ignoreDependencyOnFailure: true,
          stackTraceLimit: 0,
        },
      })),
    });
    const batch = open.get(id);
    if (batch !== undefined) batch.job = job as Job<BatchSize>;
  }

  return {
    adopted,
    get openRows() {
      let sum = 0;
      for (const batch of open.values()) sum += batch.unfinished;
      return sum;
    },
    async refresh() {
      await Promise.all(
        [...open].map(async ([id, batch]) => {
          const { unprocessed } = (await batch.job?.getDependenciesCount({ unprocessed: true })) ?? {};
          if (unprocessed === undefined) return;
          batch.unfinished = unprocessed;
          // A batch whose rows are all finished is there until it has been collected.
          if (unprocessed > 0 || (await queue.getJob(id)) !== undefined || !open.delete(id)) return;
          await options.onVanished(batch.rows, batch.size);
        }),
      );
    },
    async add(tasks, bytes, signal) {
      const first = tasks[0];
      if (first === undefined) return;
      const id = batchJobId(runId, first.row);
      const size = { rows: tasks.length, bytes };
      open.set(id, { size, rows: tasks.map(({ row }) => row), unfinished: tasks.length });
      for (;;) {
        try {
          return await addOnce(tasks, id, size);
        } catch (error) {
          if (datastore.exclusive) throw error;
          options.onError(error as Error);
          await pause(addAgainMs, undefined, { signal });
          // Its reply may have been lost, not the batch: a second one of the same rows would call them again.
          if (!open.has(id) || (await queue.getJob(id)) !== undefined || !open.has(id)) return;
        }
      }
    },
    takeBack: (save) =>
      takeBack(datastore, rows, runId, async (taken) => {
        for (const { row } of taken) takenBack.add(row);
        await save(taken);
      }),
    async forget() {
      clock.close();
      await collector.close();
      await queue.pause();
      await queue.obliterate({ force: true });
    },
    async close() {
      clock.close();
      await collector.close();
      await producer.close();
      await queue.close();
    },
  };
}
