import type { Queue } from 'bullmq';
import { isBatchOf, type RunBatchData, rangesOf, rowsOf, wasRemovedByCoordinator } from './batch-flow.ts';
import { OpenBatch } from './open-batch.ts';
import { bytesOf, decodeBatch } from './payload.ts';
import type { RowQueue } from './row-queue.ts';

export interface FoundBatches {
  readonly batches: readonly OpenBatch[];
  readonly epochs: readonly (string | undefined)[];
  /** A list names a batch whose data were deleted, so that its rows are not known. */
  readonly isIncomplete: boolean;
}

export const unfinished = ['waiting-children', 'waiting', 'prioritized', 'active', 'delayed'] as const;

/**
 * The batches of a run that are in a list of either queue: if the list of their parents was deleted, workers can still claim the children.
 * Only what BullMQ makes of a parent whose data were deleted is ever `failed`.
 */
export async function findBatches(
  runId: string,
  queue: Pick<Queue<RunBatchData, number>, 'getJob' | 'getRanges'>,
  rows: Pick<RowQueue, 'job' | 'listed' | 'readLedger'>,
): Promise<FoundBatches> {
  const parents = await queue.getRanges([...unfinished, 'failed'], 0, -1);
  const children = [...(await rows.listed())].filter((id) => isBatchOf(runId, id));
  const batches: OpenBatch[] = [];
  const epochs: (string | undefined)[] = [];
  let isIncomplete = false;
  for (const id of new Set([...parents, ...children])) {
    const [job, child] = [await queue.getJob(id), await rows.job(id)];
    const parent = job?.data.rows === undefined ? undefined : job;
    if (parent === undefined && child === undefined) {
      isIncomplete = true;
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
  return { batches, epochs, isIncomplete };
}
