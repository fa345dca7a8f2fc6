import type { Job } from 'bullmq';
import type { RowResult } from '../domain.ts';
import { rowOfJobId } from './names.ts';
import { decodeResult } from './payload.ts';

/** What a batch weighs: rows, and characters of their request bodies. Stored with it. */
export interface BatchSize {
  readonly rows: number;
  readonly bytes: number;
}

/** What a batch has come to when all its rows are finished. */
export interface CollectedBatch extends BatchSize {
  readonly results: readonly RowResult[];
  /** Rows that BullMQ gave up, with the reason: none, unless their workers die again and again. */
  readonly abandoned: readonly { readonly row: number; readonly reason: string }[];
}

/** How much is read from the datastore at once. */
const pageSize = 1_000;

/** Everything that is stored with a batch. */
export async function readBatch(job: Job<BatchSize>): Promise<CollectedBatch> {
  const results: RowResult[] = [];
  for await (const page of finishedPages(job)) results.push(...Object.values(page).map(decodeResult));
  return { rows: job.data.rows, bytes: job.data.bytes, results, abandoned: await abandonedRows(job) };
}

/**
 * The rows of a batch, by whether they are finished, while workers go on finishing them. Unfinished ones are asked for
 * first: the other way round, a row that is finished between the two questions would be in neither answer, be taken
 * for one that was never fed, and be called again.
 */
export async function rowsOfBatch(
  job: Job<BatchSize>,
): Promise<{ readonly finished: readonly number[]; readonly unfinished: readonly number[] }> {
  const unfinished: number[] = [];
  let cursor = 0;
  do {
    const page = await job.getDependencies({ unprocessed: { cursor, count: pageSize } });
    unfinished.push(...(page.unprocessed ?? []).map(rowOfJobId));
    cursor = page.nextUnprocessedCursor ?? 0;
  } while (cursor !== 0);
  const finished = (await abandonedRows(job)).map(({ row }) => row);
  for await (const page of finishedPages(job)) finished.push(...Object.keys(page).map(rowOfJobId));
  const isFinished = new Set(finished);
  return { finished, unfinished: unfinished.filter((row) => !isFinished.has(row)) };
}

async function* finishedPages(job: Job): AsyncGenerator<Record<string, unknown>> {
  let cursor = 0;
  do {
    const page = await job.getDependencies({ processed: { cursor, count: pageSize } });
    yield page.processed ?? {};
    cursor = page.nextProcessedCursor ?? 0;
  } while (cursor !== 0);
}

async function abandonedRows(job: Job): Promise<CollectedBatch['abandoned']> {
  const failures = Object.entries(await job.getIgnoredChildrenFailures());
  return failures.map(([key, reason]) => ({ row: rowOfJobId(key), reason: String(reason) }));
}
