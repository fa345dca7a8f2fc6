import type { Queue } from 'bullmq';
import type { ResultLine } from '../journal/line.ts';
import { keptBatches, type RunBatchData, rowsOf } from './batch-flow.ts';
import { decodeReturn, type UnfinishedRow } from './payload.ts';

/** What a journal has lost and the datastore still has. */
export interface LostEntries {
  readonly results: readonly ResultLine[];
  /** A row may have come back from several batches. */
  readonly unfinishedRows: readonly UnfinishedRow[];
  /** Rows that may have been called, with lost results. */
  readonly doubtfulRows: readonly number[];
}

/**
 * Finds in collected batches what the journal has lost. Each was completed with the size of the journal that had its results: a smaller
 * journal has lost its last lines. Batches stay, with their new size, because the journal may lose the results again.
 *
 * @param journalEnd bytes of the journal; meanwhile only `save` adds entries
 */
export async function restoreLostResults(
  queue: Pick<Queue<RunBatchData, number>, 'getCompleted'>,
  journalEnd: () => number,
  save: (lost: LostEntries) => Promise<void>,
): Promise<void> {
  const foundEnd = journalEnd();
  const kept = await queue.getCompleted();
  const lost = kept.filter(
    ({ data, returnvalue }) => (data.journalBytesAfterRestore ?? returnvalue) > foundEnd,
  );
  if (lost.length === 0) return;
  const values = await Promise.all(lost.map((job) => job.getChildrenValues()));
  const returns = values.flatMap((each) => Object.values(each).map(decodeReturn));
  const results = returns.flatMap((each) => each.results);
  const unfinishedRows = returns.flatMap((each) => each.unfinishedRows);
  const knownRows = new Set([...results, ...unfinishedRows].map(({ row }) => row));
  const rows = lost.flatMap(({ data }) => rowsOf(data));
  // BullMQ keeps only the latest batches. If all were lost, each row up to the highest one is doubtful.
  const hasLostMore = lost.length === kept.length && kept.length >= keptBatches;
  const suspects = hasLostMore ? rowsOf({ rows: [[1, rows.reduce((a, b) => Math.max(a, b))]] }) : rows;
  await save({ results, unfinishedRows, doubtfulRows: suspects.filter((row) => !knownRows.has(row)) });
  const journalBytesAfterRestore = journalEnd();
  for (const job of lost) await job.updateData({ ...job.data, journalBytesAfterRestore });
}
