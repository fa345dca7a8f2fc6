import type { Job } from 'bullmq';
import type { LimitedApi, Priority } from '../../domain/terms.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { keyOfApi } from '../datastore/rate-group.ts';
import { bullmqPriority } from './batch-flow.ts';
import { bullmqOn, ifJobThere, shortEventStream, stallOptions } from './bullmq.ts';
import type { BatchJobData } from './payload.ts';

/** The queue of all batches for one API. */
export type RowQueue = ReturnType<typeof openRowQueue>;

/** Name of the queue of all batches for one API and rate group. All runs and machines that call it share the queue. */
export function rowsQueueName(api: LimitedApi): string {
  return `rows-${keyOfApi(api)}`;
}

export function openRowQueue(datastore: Datastore, api: LimitedApi) {
  const name = rowsQueueName(api);
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<BatchJobData>(name, { ...options, ...shortEventStream });
  // BullMQ throws errors that have no listener; each call here reports its own failure.
  queue.on('error', () => {});
  let stalledWatch: Promise<{ close(): Promise<void> }> | undefined;

  async function watchStalled(onError: (error: Error) => void) {
    const watch = new classes.Worker(name, null, { ...options, ...stallOptions, autorun: false });
    watch.on('error', onError);
    await watch.startStalledCheckTimer();
    return watch;
  }

  return {
    name,
    /** The job of a batch, if it still exists. */
    job: (id: string): Promise<Job<BatchJobData> | undefined> => queue.getJob(id),
    /** Entries in the ledger of a batch, from index `first`. */
    async readLedger(id: string, first: number): Promise<readonly string[]> {
      const { logs } = await queue.getJobLogs(id, first);
      return logs;
    },
    /** Gives a batch another priority, if it still exists. A batch that a worker has claimed keeps its place. */
    async reprioritize(id: string, priority: Priority): Promise<void> {
      const job = await queue.getJob(id);
      if (job !== undefined) await ifJobThere(job.changePriority({ priority: bullmqPriority(priority) }));
    },
    /** Batches of any run that can be claimed. */
    countWaiting: (): Promise<number> => queue.getJobCountByTypes('waiting', 'prioritized'),
    /** Returns batches of dead workers to the queue. Only for a process without a worker: workers do this themselves. */
    async watchStalled(onError: (error: Error) => void): Promise<void> {
      stalledWatch ??= watchStalled(onError);
      await stalledWatch;
    },
    /** Releases the batches of a dead process or stopped worker. Only for an exclusive datastore. */
    async releaseClaims(): Promise<void> {
      for (const job of await queue.getActive()) await job.moveToWait('0');
    },
    /** Removes every batch, even while workers call its rows. Only for an exclusive datastore. */
    async clear(): Promise<void> {
      await queue.pause();
      await queue.obliterate({ force: true });
    },
    async close(): Promise<void> {
      await (await stalledWatch)?.close();
      await queue.close();
    },
  };
}
