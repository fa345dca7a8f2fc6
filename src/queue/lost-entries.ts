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
 * Compares the collected batches that the datastore keeps with the journal. Each was completed with the size of the journal that
 * had its results: a journal that is smaller has lost its last lines.
 *
 * @param journalEnd its size in bytes
 * @returns undefined when the journal has lost nothing
 */
export async function findLostEntries(
  queue: Pick<Queue<RunBatchData, number>, 'getCompleted'>,
  journalEnd: number,
): Promise<LostEntries | undefined> {
  const kept = await queue.getCompleted();
  const lost = kept.filter(({ returnvalue }) => returnvalue > journalEnd);
  if (lost.length === 0) return undefined;
  const returns = await Promise.all(lost.map(async (job) => Object.values(await job.getChildrenValues())));
  const known = returns.flat().map(decodeReturn).reduce(mergeReturns, { results: [], leftovers: [] });
  const told = new Set([...known.results, ...known.leftovers].map(({ row }) => row));
  const rows = lost.flatMap(({ data }) => rowsOf(data));
  // Older batches, which are removed, had rows below the highest of these.
  const hasLostMore = lost.length === kept.length && kept.length >= keptBatches;
  const suspects = hasLostMore ? upTo(rows.reduce((a, b) => Math.max(a, b))) : rows;
  return { ...known, doubtful: suspects.filter((row) => !told.has(row)) };
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, n) => n + 1);
}
