import type { Queue } from 'bullmq';
import { isBatchOf, type RunBatchData, rangesOf, rowsOf, wasRemovedByCoordinator } from './batch-flow.ts';
import type { BatchQueueOptions } from './batch-queue-options.ts';
import { OpenBatch } from './open-batch.ts';
import { bytesOf, decodeBatch } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export interface FoundBatches {
  readonly batches: readonly OpenBatch[];
  readonly epochs: readonly (string | undefined)[];
  /** Batches that arrived, and of which no more is known: a list names one without data, or one was collected, and its rows are unsettled. */
  readonly traces: ReadonlySet<string>;
}

export const unfinishedStates = ['waiting-children', 'waiting', 'prioritized', 'active', 'delayed'] as const;

/**
 * The batches of a run that are in a list of either queue, or that the journal names. If the list of their parents was deleted, workers can
 * still claim the children; if those have ended since, no list names the parents, which have the results. Only what BullMQ makes of a parent
 * whose data were deleted is ever `failed`.
 *
 * @param unsettled batches that the journal names
 */
export async function findBatches(
  { runId, unsettled }: Pick<BatchQueueOptions, 'runId' | 'unsettled'>,
  queue: Pick<Queue<RunBatchData, number>, 'getJob' | 'getRanges'>,
  rows: Pick<RowQueue, 'job' | 'listedIds' | 'readLedger'>,
): Promise<FoundBatches> {
  const parents = await queue.getRanges([...unfinishedStates, 'failed'], 0, -1);
  const children = [...(await rows.listedIds())].filter((id) => isBatchOf(runId, id));
  const batches: OpenBatch[] = [];
  const epochs: (string | undefined)[] = [];
  const traces = new Set<string>();
  const listed = new Set([...parents, ...children]);
  for (const id of new Set([...listed, ...unsettled])) {
    const [job, child] = [await queue.getJob(id), await rows.job(id)];
    const parent = job?.data.rows === undefined ? undefined : job;
    if (parent === undefined && child === undefined) {
      if (listed.has(id)) traces.add(id);
      continue;
    }
    if (parent?.data.collected !== undefined && !listed.has(id)) {
      traces.add(id);
      continue;
    }
    const { tasks = [], epoch } = child === undefined ? {} : decodeBatch(child.data);
    const data = parent?.data ?? { rows: rangesOf(tasks), bytes: bytesOf(...tasks), epoch };
    const batch = new OpenBatch({ id, queue: rows, rows: rowsOf(data), bytes: data.bytes, tasks });
    batch.isRemovedByCoordinator =
      child === undefined && parent !== undefined && (await wasRemovedByCoordinator(parent));
    batches.push(batch);
    epochs.push(data.epoch);
  }
  return { batches, epochs, traces };
}
