import type { Job } from 'bullmq';
import { expect, test } from 'vitest';
import { type BatchSize, rowsOfBatch } from '../../src/queue/collected-batch.ts';

/** A batch of which a worker finishes one more row after every question. */
function busyBatch(rows: readonly number[]): Job<BatchSize> {
  const unprocessed = new Set(rows);
  const processed = new Set<number>();
  const key = (row: number): string => `bull:rows-1:run-r${row}`;
  const finishOne = (): void => {
    const [row] = unprocessed;
    if (row === undefined) return;
    unprocessed.delete(row);
    processed.add(row);
  };
  return {
    async getDependencies(asked: { processed?: object }) {
      const answer =
        asked.processed === undefined
          ? { unprocessed: [...unprocessed].map(key), nextUnprocessedCursor: 0 }
          : {
              processed: Object.fromEntries([...processed].map((row) => [key(row), '{}'])),
              nextProcessedCursor: 0,
            };
      finishOne();
      return answer;
    },
    async getIgnoredChildrenFailures() {
      finishOne();
      return {};
    },
  } as unknown as Job<BatchSize>;
}

test('no row of a batch is overlooked while workers go on finishing them', async () => {
  const { finished, unfinished } = await rowsOfBatch(busyBatch([1, 2, 3, 4, 5]));
  expect([...finished, ...unfinished].toSorted()).toEqual([1, 2, 3, 4, 5]);
});
