import { type Job, type Queue, withBackend } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';

/** BullMQ's constructors and their options for a datastore. The rest of this folder does not know which datastore it uses. */
export function bullmqOn(datastore: Datastore) {
  const prefix = datastore.prefix === undefined ? {} : { prefix: datastore.prefix };
  return {
    classes: withBackend(datastore.backend),
    options: { connection: datastore.connection, ...prefix },
    /** Like `options`, for code that adds rows. */
    producerOptions: { connection: datastore.producerConnection, ...prefix },
  };
}

/** Nothing reads BullMQ's event streams: keep them short. */
export const shortEventStream = { streams: { events: { maxLen: 100 } } } as const;

/** Whether an error is BullMQ's message for a missing job. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Missing key');
}

/** How long a worker keeps a batch without renewing its lock. */
export const lockMs = 20_000;

/**
 * Worker options that all processes of a datastore must share. The batch of a lost worker comes back after `lockDuration` and
 * one or two `stalledInterval`s, as often as necessary. `renewLocks` renews locks. After an error of the datastore, BullMQ's
 * own loops retry after `runRetryDelay`.
 */
export const stallOptions = {
  lockDuration: lockMs,
  skipLockRenewal: true,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
  runRetryDelay: 1_000,
} as const;

/** The following commands may find their work done already: by another process, or by an earlier send whose reply was lost. */

/** Waits for a command on a job. @returns false when the job no longer exists */
export async function ifJobThere(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

export async function isUnclaimed(job: Job): Promise<boolean> {
  return ['waiting', 'prioritized'].includes(await job.getState());
}

/** Makes a delayed job due. */
export async function promote(job: Job): Promise<void> {
  try {
    await job.promote();
  } catch (error) {
    if (await job.isDelayed()) throw error;
  }
}

/** Removes a queue with all of its jobs. BullMQ requires it to be paused. */
export async function obliterate(queue: Pick<Queue, 'pause' | 'isPaused' | 'obliterate'>): Promise<void> {
  for (;;) {
    await queue.pause();
    try {
      await queue.obliterate({ force: true });
      return;
    } catch (error) {
      // Retry only if the pause was lost: another process removed the queue, or the datastore was restored.
      if (await queue.isPaused()) throw error;
    }
  }
}
