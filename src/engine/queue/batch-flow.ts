import { randomUUID } from 'node:crypto';
import type { FlowJob, Job } from 'bullmq';
import { type Priority, priorities } from '../../domain/terms.ts';
import { type Batch, type BatchReturn, bytesOf, decodeReturn, encodeBatch, type RowTask } from './payload.ts';

type Ranges = readonly (readonly [first: number, last: number])[];

export interface RunBatchData {
  readonly rows: Ranges;
  /** The rows of a collected batch. `rows` is then empty, because earlier versions take each job with `rows` for an open batch. */
  readonly collected?: Ranges;
  /** Characters in the lines of the batch's rows. */
  readonly bytes: number;
  readonly epoch?: string | undefined;
  /** Set before the coordinator removes the child job. A marked job without child and value has no unknown calls. */
  readonly removedByCoordinator?: true;
  /** Bytes of the journal that has the lost results of this collected batch again. */
  readonly journalBytesAfterRestore?: number;
}

/** Rows that are added together, all or nothing. */
export interface FedBatch {
  readonly id: string;
  readonly tasks: readonly RowTask[];
}

/** Completed batches that the datastore keeps. Their rows took seconds, so they cover what a journal loses in a power failure. */
export const keptBatches = 25;

/** A failed collection is not the fault of a row: retry until the run ends or the journal accepts the results. */
const collectRetries = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

export interface FlowPlace {
  readonly batches: string;
  readonly rows: string;
  readonly priority: Priority;
}

/** Makes the id of a batch. No id is used again, so that no later batch is mistaken for an earlier one. */
export function newBatchId(runId: string): string {
  return `${runId}-b-${randomUUID()}`;
}

export function isBatchOf(runId: string, id: string): boolean {
  const end = id.length - newBatchId('').length;
  return end === runId.length && id.startsWith(`${runId}-b-`);
}

/** BullMQ's number for a priority: it hands out jobs with 1 first. */
export function bullmqPriority(priority: Priority): number {
  return 1 + priorities.indexOf(priority);
}

/** A job for the coordinator, which becomes ready when its child, the worker's job, completes. Both have this id. */
export function flowOf(id: string, { batches, rows, priority }: FlowPlace, batch: Batch): FlowJob {
  const data: RunBatchData = {
    rows: rangesOf(batch.tasks),
    bytes: bytesOf(...batch.tasks),
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
    opts: { jobId: id, removeOnComplete: { count: keptBatches }, ...collectRetries },
    children: [{ name: 'rows', queueName: rows, data: { ...encodeBatch(batch), id }, opts: child }],
  };
}

export function rangesOf(tasks: readonly Pick<RowTask, 'row'>[]): Ranges {
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

/** Whether an earlier process took the batch back, and died before it collected it. */
export async function wasRemovedByCoordinator(job: Job<RunBatchData>): Promise<boolean> {
  return job.data.removedByCoordinator === true && Object.keys(await job.getChildrenValues()).length === 0;
}

/** What the worker of a batch returned; undefined unless its child job has completed. Skips copies of the child by dashboards. */
export async function returnedOf(job: Job<RunBatchData>): Promise<BatchReturn | undefined> {
  const values = Object.entries(await job.getChildrenValues());
  const [, value] = values.find(([key]) => key.endsWith(`:${job.id}`)) ?? [];
  return value === undefined ? undefined : decodeReturn(value);
}
