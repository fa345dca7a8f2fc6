import { randomUUID } from 'node:crypto';
import type { FlowJob, Job } from 'bullmq';
import { type Priority, priorities } from '../../domain/terms.ts';
import { type Batch, encodeBatch, type RowTask } from './payload.ts';

type Ranges = readonly (readonly [first: number, last: number])[];

/** Data of a batch's job in the queue of its run. */
export interface RunBatchData {
  /** Row numbers, as ranges. */
  readonly rows: Ranges;
  /** The rows of a collected batch. Its `rows` are then empty, because earlier versions take each job with `rows` for an open batch. */
  readonly collected?: Ranges;
  /** Characters in its request bodies. */
  readonly bytes: number;
  /** See `Batch`. */
  readonly epoch?: string | undefined;
  /**
   * Set before the coordinator removes the child. If the job then has neither child nor value, the coordinator knows each call of its rows.
   */
  readonly taken?: true;
  /** Size of the journal in bytes after it got the results of this collected batch back, which it had lost. */
  readonly restoredEnd?: number;
}

/** How many collected batches the datastore keeps. Their rows took seconds, so they cover what a journal loses in a power failure. */
export const keptBatches = 25;

/** A failed collection is not the fault of a row: retry until the run ends or the journal accepts the results. */
const collectAgain = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

export interface FlowPlace {
  /** The queue of the run. */
  readonly batches: string;
  /** The queue of the workers. */
  readonly rows: string;
  readonly priority: Priority;
}

/** A new, unique id of a batch: ids are never reused, so that no later batch is mistaken for an earlier one. */
export function newBatchId(runId: string): string {
  return `${runId}-b-${randomUUID()}`;
}

/** BullMQ's priority: 1 is claimed first. Batches of one priority are claimed in order of arrival. */
export function bullmqPriority(priority: Priority): number {
  return 1 + priorities.indexOf(priority);
}

/**
 * A batch for the datastore: a job for the coordinator, which becomes ready when its child, the worker's job, completes.
 *
 * @param id of both jobs
 */
export function flowOf(id: string, { batches, rows, priority }: FlowPlace, batch: Batch): FlowJob {
  const data: RunBatchData = {
    rows: rangesOf(batch.tasks),
    bytes: bytesOf(batch.tasks),
    epoch: batch.epoch,
  };
  const child = {
    jobId: id,
    removeOnComplete: true,
    removeOnFail: true,
    ignoreDependencyOnFailure: true,
    priority: bullmqPriority(priority),
  };
  return {
    name: 'batch',
    queueName: batches,
    data,
    opts: { jobId: id, removeOnComplete: { count: keptBatches }, ...collectAgain },
    children: [{ name: 'rows', queueName: rows, data: encodeBatch(batch), opts: child }],
  };
}

export function rangesOf(tasks: readonly RowTask[]): Ranges {
  const ranges: [number, number][] = [];
  for (const { row } of tasks) {
    const last = ranges.at(-1);
    if (last !== undefined && row === last[1] + 1) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges;
}

export function rowsOf({ rows, collected = rows }: Pick<RunBatchData, 'rows' | 'collected'>): number[] {
  return collected.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
}

/** Whether an earlier process of the run took the batch, removed its child, and died before it collected the batch. */
export async function isTaken(job: Job<RunBatchData>): Promise<boolean> {
  return job.data.taken === true && Object.keys(await job.getChildrenValues()).length === 0;
}

export function bytesOf(tasks: readonly RowTask[]): number {
  return tasks.reduce((bytes, { body }) => bytes + body.length, 0);
}
