import { createHash } from 'node:crypto';
import type { Job } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import { bullmqOn, shortEventStream, stallOptions } from './bullmq.ts';
import type { BatchJobData } from './payload.ts';

/** The queue of all batches for one API. */
export type RowQueue = ReturnType<typeof openRowQueue>;

/**
 * The queue of all batches of rows for one API, shared by every run and machine that calls it, because its limits are
 * shared. `baseUrl` must be normalised.
 */
export function rowsQueueName(baseUrl: string): string {
  return `rows-${createHash('sha256').update(baseUrl).digest('hex').slice(0, 12)}`;
}

/** Opens the queue of all batches for the API at that base URL. */
export function openRowQueue(datastore: Datastore, baseUrl: string) {
  const name = rowsQueueName(baseUrl);
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<BatchJobData>(name, { ...options, ...shortEventStream });
  // BullMQ throws errors without a listener; each call here already reports its own failure.
  queue.on('error', () => {});
  let stalledWatch: { close(): Promise<void> } | undefined;

  return {
    name,
    /** The job of a batch; undefined when it does not exist any more. */
    job: (id: string): Promise<Job<BatchJobData> | undefined> => queue.getJob(id),
    /** The entries in the ledger of a batch, from this index, counted from 0. */
    async readLedger(id: string, first: number): Promise<readonly string[]> {
      const { logs } = await queue.getJobLogs(id, first);
      return logs;
    },
    /** Batches of any run that are ready to be claimed. */
    countWaiting: (): Promise<number> => queue.getJobCountByTypes('waiting', 'prioritized'),
    /** Looks after batches whose workers died, in a process without a worker; workers do so by themselves. */
    async watchStalled(): Promise<void> {
      if (stalledWatch !== undefined) return;
      const watch = new classes.Worker(name, null, { ...options, ...stallOptions, autorun: false });
      watch.on('error', () => {});
      stalledWatch = watch;
      await watch.startStalledCheckTimer();
    },
    /** Gives back the batches that a dead process or a stopped worker held: only for a datastore that is exclusively ours. */
    async releaseClaims(): Promise<void> {
      for (const job of await queue.getActive()) await job.moveToWait('0');
    },
    /** Removes every batch, even those of working workers: only for a datastore that is exclusively ours. */
    async clear(): Promise<void> {
      await queue.pause();
      await queue.obliterate({ force: true });
    },
    async close(): Promise<void> {
      await stalledWatch?.close();
      await queue.close();
    },
  };
}
