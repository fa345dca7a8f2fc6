import type { Queue } from 'bullmq';
import { keptBatches, type RunBatchData, rowsOf } from './batch-flow.ts';
import { type BatchReturn, decodeReturn } from './payload.ts';
import { mergeReturns } from './recollection.ts';

/** What a journal has lost, as far as the datastore still knows. */
export interface LostEntries extends BatchReturn {
  /** Other rows that may have been called: the journal may have lost what is known of them. */
  readonly doubtful: readonly number[];
}

/**
 * Hands out what the collected batches of a run say that its journal has lost since. Each was completed with the size of the journal
 * that had its results: a journal that is smaller has lost its last lines. The batches stay, with the size of the journal that has
 * their results again, since it may lose its last lines again.
 *
 * @param journalEnd its size in bytes; nothing is added to it meanwhile but what `save` adds
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
  const told = new Set([...known.results, ...known.leftovers].map(({ row }) => row));
  const rows = lost.flatMap(({ data }) => rowsOf(data));
  // Older batches, which are removed, had rows below the highest of these.
  const hasLostMore = lost.length === kept.length && kept.length >= keptBatches;
  const suspects = hasLostMore ? rowsOf({ rows: [[1, rows.reduce((a, b) => Math.max(a, b))]] }) : rows;
  await save({ ...known, doubtful: suspects.filter((row) => !told.has(row)) });
  const restoredEnd = journalEnd();
  for (const job of lost) await job.updateData({ ...job.data, restoredEnd });
}
