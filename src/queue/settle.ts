import type { Job } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import type { RowHistory, RowResult } from '../domain.ts';
import { type BatchSize, readBatch } from './batch-queue.ts';
import { bullmqOn } from './bullmq.ts';
import { batchesQueueName, rowJobId, rowOfChildKey } from './names.ts';
import { decodeTask, type RowJobData } from './payload.ts';
import { lostClaimsOf } from './row-worker.ts';

/** What the datastore holds of a run that nobody works on. */
export interface Leftovers {
  readonly results: readonly RowResult[];
  /** Rows without a result, with what their attempts did; rows that were never claimed have no history. */
  readonly unfinished: readonly { readonly row: number; readonly history?: RowHistory }[];
  /** Takes all of it out of the datastore; call it once the rest is safe in the journal. */
  remove(): Promise<void>;
}

/** A claim whose worker died may have made the call: the row's history says so. */
const nothingKnown: RowHistory = { attempts: 0, unprocessed: 0, unclear: false };

/**
 * Reads what is left of a run in a datastore that is exclusively ours and on which no worker runs: then a row that
 * is active was left behind by a process that died.
 */
export async function readLeftovers(
  datastore: Datastore,
  runId: string,
  rowsQueue: string,
): Promise<Leftovers> {
  const { classes, options } = bullmqOn(datastore);
  const batches = new classes.Queue<BatchSize>(batchesQueueName(runId), options);
  const rows = new classes.Queue<RowJobData>(rowsQueue, options);
  for (const queue of [batches, rows]) queue.on('error', () => {});

  const results: RowResult[] = [];
  const unfinished: { row: number; history?: RowHistory }[] = [];
  const parents = (await batches.getJobs()) as Job<BatchSize>[];
  for (const parent of parents) {
    const batch = await readBatch(parent);
    results.push(...batch.results);
    unfinished.push(
      ...batch.abandoned.map(({ row }) => ({ row, history: { ...nothingKnown, unclear: true } })),
    );
    for (const row of await pendingRows(parent)) {
      const job = (await rows.getJob(rowJobId(runId, row))) as Job<RowJobData> | undefined;
      if (job !== undefined) unfinished.push({ row, ...historyOf(job) });
    }
  }

  return {
    results,
    unfinished,
    async remove() {
      for (const active of await rows.getActive()) await (active as Job).moveToWait('0');
      for (const active of await batches.getActive()) await (active as Job).moveToWait('0');
      for (const parent of parents) await batches.remove(parent.id ?? '', { removeChildren: true });
      await batches.pause();
      await batches.obliterate({ force: true });
      await Promise.all([batches.close(), rows.close()]);
    },
  };
}

async function pendingRows(parent: Job): Promise<readonly number[]> {
  const rows: number[] = [];
  let cursor = 0;
  do {
    const page = await parent.getDependencies({ unprocessed: { cursor, count: 1_000 } });
    rows.push(...(page.unprocessed ?? []).map(rowOfChildKey));
    cursor = page.nextUnprocessedCursor ?? 0;
  } while (cursor !== 0);
  return rows;
}

function historyOf(job: Job<RowJobData>): { history?: RowHistory } {
  const task = decodeTask(job.data);
  const lost = lostClaimsOf(job, task);
  if (lost === 0) return task.history === undefined ? {} : { history: task.history };
  const known = task.history ?? nothingKnown;
  return { history: { ...known, attempts: known.attempts + lost, unclear: true } };
}
