import type { Job } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import { noHistory, type RowHistory } from '../domain.ts';
import { bullmqOn } from './bullmq.ts';
import { rowJobId, rowOfJobId } from './names.ts';
import { decodeTask, type RowJobData } from './payload.ts';
import type { RowQueue } from './row-queue.ts';
import { lostClaimsOf } from './row-worker.ts';

/** A row that was fed and is not to be called any more, with what its attempts did. */
export interface TakenRow {
  readonly row: number;
  readonly history: RowHistory;
}

/** So many rows are taken back while no worker may claim one, and so long at the most. */
const takenAtOnce = 500;
const holdMs = 2_000;

/**
 * Takes the rows of a run out of the datastore, but for those that are being called right now and those with a result.
 * What their attempts did is handed to `save` first. A batch of which all other rows are finished is then collected.
 *
 * While rows are being read and removed, no worker of this queue claims any: a row could otherwise be called between
 * the two, and nobody would know.
 */
export async function takeBack(
  datastore: Datastore,
  queue: RowQueue,
  runId: string,
  save: (rows: readonly TakenRow[]) => Promise<void>,
): Promise<void> {
  const { classes, options } = bullmqOn(datastore);
  const rows = new classes.Queue<RowJobData>(queue.name, options);
  rows.on('error', () => {});
  try {
    for (;;) {
      const since = performance.now();
      const release = datastore.exclusive ? undefined : await queue.hold(holdMs);
      const jobs = await idleRows(rows, runId);
      await save(jobs.map(takenRow));
      // Too slow: workers may claim rows again by now, and what was read may be out of date.
      const inTime = datastore.exclusive || performance.now() - since < holdMs / 2;
      if (inTime) await Promise.all(jobs.map(({ id }) => rows.remove(id ?? '')));
      await release?.();
      if (jobs.length === 0) return;
    }
  } finally {
    await rows.close();
  }
}

type RowsQueue = {
  getJobs(
    types: ('waiting' | 'delayed' | 'prioritized')[],
    start: number,
    end: number,
  ): Promise<Job<RowJobData>[]>;
};

/** Some rows of the run that nobody is calling. */
async function idleRows(rows: RowsQueue, runId: string): Promise<readonly Job<RowJobData>[]> {
  const found = new Map<string, Job<RowJobData>>();
  for (const state of ['delayed', 'prioritized', 'waiting'] as const) {
    for (let start = 0; found.size < takenAtOnce; start += takenAtOnce) {
      const page = await rows.getJobs([state], start, start + takenAtOnce - 1);
      for (const job of page) if (isRowOf(runId, job?.id)) found.set(job.id ?? '', job);
      if (page.length < takenAtOnce) break;
    }
  }
  return [...found.values()];
}

function isRowOf(runId: string, id: string | undefined): boolean {
  return id !== undefined && rowJobId(runId, rowOfJobId(id)) === id;
}

function takenRow(job: Job<RowJobData>): TakenRow {
  const row = rowOfJobId(job.id ?? '');
  const task = decodeTask(job.data);
  const lost = lostClaimsOf(job, task);
  const known = task.history ?? noHistory;
  return lost === 0
    ? { row, history: known }
    : { row, history: { ...known, attempts: known.attempts + lost, unclear: true } };
}
