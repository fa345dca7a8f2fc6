import { type Job, type Queue, withBackend } from 'bullmq';
import type { Datastore } from '../datastore/datastore.ts';

/**
 * Binds BullMQ to a datastore: its constructors, and the options that tie them to it. Nothing else in this folder knows
 * which one it is.
 */
export function bullmqOn(datastore: Datastore) {
  const prefix = datastore.prefix === undefined ? {} : { prefix: datastore.prefix };
  return {
    classes: withBackend(datastore.backend),
    options: { connection: datastore.connection, ...prefix },
    /** The same for what adds rows. */
    producerOptions: { connection: datastore.producerConnection, ...prefix },
  };
}

/** Nobody reads BullMQ's event streams; the least that is kept of them costs the least. */
export const shortEventStream = { streams: { events: { maxLen: 100 } } } as const;

/** Whether an error is BullMQ's word for a job that is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Missing key');
}

/** Whether an error is the datastore's answer to a command, which has done nothing then. */
export function isQueueRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** How long a batch stays with a worker that does not renew its lock. */
export const lockMs = 20_000;

/**
 * Worker options that all processes of a datastore must agree on. A batch whose worker was lost comes back after
 * `lockDuration` and one or two of `stalledInterval`; it is never given up because of that. Locks are renewed by
 * `renewLocks`. After an error of the datastore, what BullMQ repeats by itself it repeats after `runRetryDelay`.
 */
export const stallOptions = {
  lockDuration: lockMs,
  skipLockRenewal: true,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
  runRetryDelay: 1_000,
} as const;

/*
 * Commands that may find their work done: by another process just now, or by themselves, when the reply was lost with the
 * connection and the client has sent them again.
 */

/** Waits for a command on a job. @returns false when the job is not there: it has just been completed */
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

/** Takes a queue out of the datastore, with all of its jobs. BullMQ wants it paused for that. */
export async function obliterate(queue: Pick<Queue, 'pause' | 'isPaused' | 'obliterate'>): Promise<void> {
  for (;;) {
    await queue.pause();
    try {
      await queue.obliterate({ force: true });
      return;
    } catch (error) {
      // Nothing says any more that it is paused where it was taken out, or put back as it was before, meanwhile.
      if (await queue.isPaused()) throw error;
    }
  }
}
