import { type Job, type Queue, withBackend } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';

/**
 * Binds BullMQ to a datastore: its constructors, and their options. Nothing else in this folder knows which datastore it is.
 */
export function bullmqOn(datastore: Datastore) {
  const prefix = datastore.prefix === undefined ? {} : { prefix: datastore.prefix };
  return {
    classes: withBackend(datastore.backend),
    options: { connection: datastore.connection, ...prefix },
    /** Like `options`, for code that adds rows. */
    producerOptions: { connection: datastore.producerConnection, ...prefix },
  };
}

/** BullMQ's event streams are not read: the shortest costs the least. */
export const shortEventStream = { streams: { events: { maxLen: 100 } } } as const;

/** Whether an error is BullMQ's word for a missing job. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Missing key');
}

/** Whether an error is the datastore's answer to a command, which then has done nothing. */
export function isQueueRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** How long a batch stays with a worker that does not renew its lock. */
export const lockMs = 20_000;

/**
 * Worker options that all processes of a datastore must agree on. A batch whose worker was lost comes back after `lockDuration`
 * and one or two `stalledInterval`s; it is never given up for that. `renewLocks` renews locks. What BullMQ repeats by itself
 * after an error of the datastore, it repeats after `runRetryDelay`.
 */
export const stallOptions = {
  lockDuration: lockMs,
  skipLockRenewal: true,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
  runRetryDelay: 1_000,
} as const;

/*
 * These commands may find their work already done: by another process just now, or by themselves, when the connection lost the
 * reply and the client sent them again.
 */

/** Waits for a command on a job. @returns false when the job does not exist: it has just been completed */
export async function ifJobThere(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Makes a delayed job due. */
export async function promote(job: Job): Promise<void> {
  try {
    await job.promote();
  } catch (error) {
    if (await job.isDelayed()) throw error;
  }
}

/** Removes a queue from the datastore, with all of its jobs. BullMQ requires it to be paused. */
export async function obliterate(queue: Pick<Queue, 'pause' | 'isPaused' | 'obliterate'>): Promise<void> {
  for (;;) {
    await queue.pause();
    try {
      await queue.obliterate({ force: true });
      return;
    } catch (error) {
      // The mark that it is paused is gone where the queue was removed, or restored to an earlier state, meanwhile.
      if (await queue.isPaused()) throw error;
    }
  }
}
