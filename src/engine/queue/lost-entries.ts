import type { Queue } from 'bullmq';
import { keptBatches, type RunBatchData, rowsOf } from './batch-flow.ts';
import { type BatchReturn, decodeReturn } from './payload.ts';
import { mergeReturns } from './recollection.ts';

/** What a journal has lost and the datastore still has. */
export interface LostEntries extends BatchReturn {
  /** Rows that may have been called, with lost results. */
  readonly doubtful: readonly number[];
}

/**
 * Finds in collected batches what the journal has lost. Each was completed with the size of the journal that had its results: a smaller
 * journal has lost its last lines. Batches stay, with their new size, because the journal may lose the results again.
 *
 * @param journalEnd bytes of the journal; meanwhile only `save` adds entries
 */
export async function recollect(
  queue: Pick<Queue<RunBatchData, number>, 'getCompleted'>,
  journalEnd: () => number,
  save: (lost: LostEntries) => Promise<void>,
): Promise<void> {
  const foundEnd = journalEnd();
  const kept = await queue.getCompleted();
  const lost = kept.filter(({ data, returnvalue }) => (data.restoredEnd ?? returnvalue) > foundEnd);
  if (lost.length === 0) return;
  const returns = await Promise.all(lost.map(async (job) => Object.values(await job.getChildrenValues())));
  const known = returns.flat().map(decodeReturn).reduce(mergeReturns, { results: [], leftovers: [] });
  const knownRows = new Set([...known.results, ...known.leftovers].map(({ row }) => row));
  const rows = lost.flatMap(({ data }) => rowsOf(data));
  // Older batches were removed; their rows are below the highest row of the kept batches.
  const hasLostMore = lost.length === kept.length && kept.length >= keptBatches;
  const suspects = hasLostMore ? rowsOf({ rows: [[1, rows.reduce((a, b) => Math.max(a, b))]] }) : rows;
  await save({ ...known, doubtful: suspects.filter((row) => !knownRows.has(row)) });
  const restoredEnd = journalEnd();
  for (const job of lost) await job.updateData({ ...job.data, restoredEnd });
}
