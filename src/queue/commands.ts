import type { Job, Queue } from 'bullmq';
import { isMissing } from './bullmq.ts';

/*
 * Commands that may find their work done: by another process just now, or by themselves, when the reply was lost with the
 * connection and the client has sent them again.
 */

/** Writes into a ledger. @returns false when its batch has just been completed */
export async function append(child: Job, text: string): Promise<boolean> {
  try {
    await child.log(text);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Changes what a job says. @returns false when it has just been completed */
export async function update<Data extends object>(job: Job<Data>, change: Partial<Data>): Promise<boolean> {
  try {
    await job.updateData({ ...job.data, ...change });
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
  for (let isGone = false; !isGone; ) {
    await queue.pause();
    try {
      await queue.obliterate({ force: true });
      isGone = true;
    } catch (error) {
      // Nothing says any more that it is paused where it was taken out, or put back as it was before, meanwhile.
      if (await queue.isPaused()) throw error;
    }
  }
}
