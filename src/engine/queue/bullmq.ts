import { type Job, type Queue, withBackend } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';

export function bullmqOn(datastore: Datastore) {
  const prefix = datastore.prefix === undefined ? {} : { prefix: datastore.prefix };
  return {
    classes: withBackend(datastore.backend),
    options: { connection: datastore.connection, ...prefix },
    producerOptions: { connection: datastore.producerConnection, ...prefix },
  };
}

/** Nothing reads BullMQ's event streams, so they are kept short. */
export const shortEventStream = { streams: { events: { maxLen: 100 } } } as const;

export function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Missing key');
}

/** How long a worker keeps the lock of a batch without renewing it. */
export const lockMs = 20_000;

/** Shared by all processes of a datastore. The batch of a lost worker comes back after `lockDuration` and one or two `stalledInterval`s. */
export const stallOptions = {
  lockDuration: lockMs,
  skipLockRenewal: true,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
  runRetryDelay: 1_000,
} as const;

/** The commands below may find their work done by another process, or by an earlier send whose reply was lost. */

/** @returns false when the job of the command no longer exists */
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

export async function promote(job: Job): Promise<void> {
  try {
    await job.promote();
  } catch (error) {
    if (await job.isDelayed()) throw error;
  }
}

/** Deletes a queue with all its jobs. BullMQ requires that the queue is paused first. */
export async function obliterate(queue: Pick<Queue, 'pause' | 'isPaused' | 'obliterate'>): Promise<void> {
  for (;;) {
    await queue.pause();
    try {
      await queue.obliterate({ force: true });
      return;
    } catch (error) {
      // If the queue is not paused, another process removed it, or the datastore was restored: pause the queue again.
      if (await queue.isPaused()) throw error;
    }
  }
}
