import type { Job } from 'bullmq';
import type { WaitReason } from '../../base/errors/error-throttle.ts';
import type { LimitedApi, Priority } from '../../domain/terms.ts';
import type { Datastore } from '../datastore/datastore.ts';
import { keyOfApi } from '../datastore/rate-group.ts';
import { bullmqPriority } from './batch-flow.ts';
import { bullmqOn, ifJobThere, shortEventStream, stallOptions } from './bullmq.ts';
import { type BatchJobData, isBatch } from './payload.ts';
import { whyQueueHoldsBatches } from './queue-hold.ts';

export type RowQueue = ReturnType<typeof openRowQueue>;

export function rowsQueueName(api: LimitedApi): string {
  return `rows-${keyOfApi(api)}`;
}

export function openRowQueue(datastore: Datastore, api: LimitedApi) {
  const name = rowsQueueName(api);
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<BatchJobData>(name, { ...options, ...shortEventStream });
  // BullMQ throws errors that have no listener; each call here reports its own failure.
  queue.on('error', () => {});
  const countWaiting = (): Promise<number> => queue.getJobCountByTypes('waiting', 'prioritized');
  let stalledWatch: Promise<{ close(): Promise<void> }> | undefined;

  async function watchStalled(onError: (error: Error) => void) {
    const watch = new classes.Worker(name, null, { ...options, ...stallOptions, autorun: false });
    watch.on('error', onError);
    await watch.startStalledCheckTimer();
    return watch;
  }

  return {
    name,
    /** The job of a batch. Undefined also for a remainder, which BullMQ makes when it moves a job whose key was deleted. */
    async job(id: string): Promise<Job<BatchJobData> | undefined> {
      const job = await queue.getJob(id);
      return job !== undefined && isBatch(job.data) ? job : undefined;
    },
    /** The ids of all jobs that a worker can claim, or has claimed. */
    async listedIds(): Promise<ReadonlySet<string>> {
      return new Set(await queue.getRanges(['waiting', 'prioritized', 'active', 'delayed'], 0, -1));
    },
    /** @param first the index of the first entry to read, from 0 */
    async readLedger(id: string, first: number): Promise<readonly string[]> {
      const { logs } = await queue.getJobLogs(id, first);
      return logs;
    },
    /** Gives a waiting batch another priority. A claimed batch keeps its place. */
    async reprioritize(id: string, priority: Priority): Promise<void> {
      const job = await queue.getJob(id);
      if (job !== undefined) await ifJobThere(job.changePriority({ priority: bullmqPriority(priority) }));
    },
    /** Why a waiting batch is not handed out, though workers want it. */
    whyHeld: async (): Promise<WaitReason | undefined> =>
      datastore.exclusive ? undefined : whyQueueHoldsBatches(queue, countWaiting),
    countWaiting,
    /** Returns batches of dead workers to the queue. Only for a process without a worker: a worker does this itself. */
    async watchStalled(onError: (error: Error) => void): Promise<void> {
      stalledWatch ??= watchStalled(onError);
      await stalledWatch;
    },
    /** Only for an exclusive datastore: releases batches of a dead process or stopped worker. */
    async releaseClaims(): Promise<void> {
      for (const job of await queue.getActive()) await job.moveToWait('0');
    },
    /** Removes all rows, even while workers call them. Only for an exclusive datastore. */
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
