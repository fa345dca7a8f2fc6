import type { Job } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';
import { keyOfApi } from '../datastore/rate-group.ts';
import { type LimitedApi, type Priority, priorities, usualPriority } from '../domain.ts';
import { bullmqOn, shortEventStream, stallOptions } from './bullmq.ts';
import { turnOf } from './fair-turns.ts';
import type { BatchJobData } from './payload.ts';

/** The queue of all batches for one API. */
export type RowQueue = ReturnType<typeof openRowQueue>;

/** The batches of one priority: a queue of BullMQ. */
export type Lane = ReturnType<typeof openLane>;

/** Name of the queue of all batches for one API and rate group. All runs and machines that call it share the queue. */
export function rowsQueueName(api: LimitedApi): string {
  return `rows-${keyOfApi(api)}`;
}

export function openRowQueue(datastore: Datastore, api: LimitedApi) {
  const name = rowsQueueName(api);
  const lanes = new Map<Priority, Lane>();
  let stalledWatches: Promise<readonly { close(): Promise<void> }[]> | undefined;

  function lane(priority: Priority): Lane {
    const opened = lanes.get(priority) ?? openLane(datastore, name, priority);
    lanes.set(priority, opened);
    return opened;
  }
  /** The embedded datastore has the rows of one run at a time. */
  const all = (): readonly Lane[] => (datastore.exclusive ? [lane(usualPriority)] : priorities.map(lane));

  return {
    lane,
    /** The lanes that may have batches, the highest priority first. */
    get lanes(): readonly Lane[] {
      return all();
    },
    /** Batches of any run that can be claimed. */
    async countWaiting(): Promise<number> {
      const counts = await Promise.all(all().map((each) => each.countWaiting()));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    /** Returns batches of dead workers to the queue. Only for a process without a worker: workers do this themselves. */
    async watchStalled(onError: (error: Error) => void): Promise<void> {
      stalledWatches ??= Promise.all(all().map((each) => each.watchStalled(onError)));
      await stalledWatches;
    },
    /** Releases the batches of a dead process or stopped worker. Only for an exclusive datastore. */
    async releaseClaims(): Promise<void> {
      for (const each of all()) await each.releaseClaims();
    },
    /** Removes every batch, even while workers call its rows. Only for an exclusive datastore. */
    async clear(): Promise<void> {
      for (const each of all()) await each.clear();
    },
    async close(): Promise<void> {
      for (const watch of (await stalledWatches) ?? []) await watch.close();
      for (const each of lanes.values()) await each.close();
    },
  };
}

/** The usual priority has the name that programs without priorities use. */
function openLane(datastore: Datastore, rows: string, priority: Priority) {
  const name = priority === usualPriority ? rows : `${rows}-${priority}`;
  const { classes, options } = bullmqOn(datastore);
  const queue = new classes.Queue<BatchJobData>(name, { ...options, ...shortEventStream });
  // BullMQ throws errors that have no listener; each call here reports its own failure.
  queue.on('error', () => {});

  return {
    name,
    priority,
    /** The job of a batch, if it still exists. */
    job: (id: string): Promise<Job<BatchJobData> | undefined> => queue.getJob(id),
    /** Entries in the ledger of a batch, from index `first`. */
    async readLedger(id: string, first: number): Promise<readonly string[]> {
      const { logs } = await queue.getJobLogs(id, first);
      return logs;
    },
    /** The turn of the batch that will be claimed next, or else the latest that is claimed; 0 without batches. */
    async servedTurn(): Promise<number> {
      const [next] = await queue.getRanges(['prioritized'], 0, 0, true);
      if (next !== undefined) return turnOf(next);
      return Math.max(0, ...(await queue.getRanges(['active'], 0, -1)).map(turnOf));
    },
    countWaiting: (): Promise<number> => queue.getJobCountByTypes('waiting', 'prioritized'),
    async watchStalled(onError: (error: Error) => void): Promise<{ close(): Promise<void> }> {
      const watch = new classes.Worker(name, null, { ...options, ...stallOptions, autorun: false });
      watch.on('error', onError);
      await watch.startStalledCheckTimer();
      return watch;
    },
    async releaseClaims(): Promise<void> {
      for (const job of await queue.getActive()) await job.moveToWait('0');
    },
    async clear(): Promise<void> {
      await queue.pause();
      await queue.obliterate({ force: true });
    },
    close: (): Promise<void> => queue.close(),
  };
}
