import type { FlowJob } from 'bullmq';
import { encodeBatch, type RetryPolicy, type RowTask } from './payload.ts';

/** Data of a batch's job in the queue of its run. */
export interface RunBatchData {
  /** The rows that it has, in order, as ranges. */
  readonly rows: readonly (readonly [first: number, last: number])[];
  /** Characters of their request bodies. */
  readonly bytes: number;
  /** Set before its coordinator takes it out: when it has no child and no value then, none of its rows was called unseen. */
  readonly taken?: true;
}

/** A collection that failed is no row's fault: it is tried until the run ends or the journal takes it. */
const collectAgain = { attempts: 1_000_000, backoff: { type: 'fixed', delay: 1_000 } } as const;

export interface BatchFlow {
  /** In both queues. */
  readonly id: string;
  /** Where it is collected, and where it waits for a worker. */
  readonly batches: string;
  readonly rows: string;
  readonly tasks: readonly RowTask[];
  readonly bytes: number;
  readonly policy: RetryPolicy;
}

/** A batch as the datastore gets it: a job for its coordinator, which is ready when the one for a worker is done. */
export function flowOf({ id, batches, rows, tasks, bytes, policy }: BatchFlow): FlowJob {
  const data: RunBatchData = { rows: rangesOf(tasks), bytes };
  const child = { jobId: id, removeOnComplete: true, removeOnFail: true, ignoreDependencyOnFailure: true };
  return {
    name: 'batch',
    queueName: batches,
    data,
    opts: { jobId: id, removeOnComplete: true, ...collectAgain },
    children: [{ name: 'rows', queueName: rows, data: encodeBatch({ tasks, policy }), opts: child }],
  };
}

/** The rows, as ranges of consecutive ones. */
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
