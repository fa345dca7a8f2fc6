import type { FlowJob } from 'bullmq';
import { type Batch, encodeBatch, type RowTask } from './payload.ts';

/** Data of a batch's job in the queue of its run. */
export interface RunBatchData {
  /** Row numbers, as ranges. */
  readonly rows: readonly (readonly [first: number, last: number])[];
  /** Characters in its request bodies. */
  readonly bytes: number;
  /**
   * Set before the coordinator removes the child. If the job then has neither child nor value, each call of its rows is known.
   */
  readonly taken?: true;
}

/** A failed collection is not the fault of a row: retry until the run ends or the journal accepts the results. */
const collectAgain = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

/**
 * A batch for the datastore: a job for the coordinator, which becomes ready when its child, the worker's job, completes.
 *
 * @param id of both jobs
 */
export function flowOf(
  id: string,
  queues: { readonly batches: string; readonly rows: string },
  batch: Batch,
): FlowJob {
  const data: RunBatchData = { rows: rangesOf(batch.tasks), bytes: bytesOf(batch.tasks) };
  const child = { jobId: id, removeOnComplete: true, removeOnFail: true, ignoreDependencyOnFailure: true };
  return {
    name: 'batch',
    queueName: queues.batches,
    data,
    opts: { jobId: id, removeOnComplete: true, ...collectAgain },
    children: [{ name: 'rows', queueName: queues.rows, data: encodeBatch(batch), opts: child }],
  };
}

export function rangesOf(tasks: readonly RowTask[]): RunBatchData['rows'] {
  const ranges: [number, number][] = [];
  for (const { row } of tasks) {
    const last = ranges.at(-1);
    if (last !== undefined && row === last[1] + 1) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges;
}

export function rowsOf({ rows }: RunBatchData): number[] {
  return rows.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, n) => first + n));
}

export function bytesOf(tasks: readonly RowTask[]): number {
  return tasks.reduce((bytes, { body }) => bytes + body.length, 0);
}
