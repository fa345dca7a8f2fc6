import type { Queue } from 'bullmq';
import { WaitReason } from '../../base/errors/error-throttle.ts';
import { shellWord } from '../../base/text/command-words.ts';

/**
 * Dashboards of BullMQ can pause a queue, or bound what it hands out, and BullMQ keeps that in the queue's `meta` until a person removes it.
 *
 * @param waiting counts the jobs that could be claimed
 * @returns why these jobs are not handed out, and what to type
 */
export async function whyQueueHoldsBatches(
  queue: Pick<Queue, 'getMeta' | 'toKey' | 'getActiveCount'>,
  waiting: () => Promise<number>,
): Promise<WaitReason | undefined> {
  const { paused, concurrency, max, duration } = await queue.getMeta();
  if (!paused && concurrency === undefined && max === undefined) return undefined;
  if ((await waiting()) === 0) return undefined;
  const held = (what: string, fields: string): WaitReason =>
    new WaitReason(
      `${what} in Redis, as dashboards of BullMQ can do; to end that, type in redis-cli: HDEL ${shellWord(queue.toKey('meta'))} ${fields}`,
    );
  if (paused) return held('the queue of the API is paused', 'paused');
  if (max !== undefined && duration !== undefined)
    return held(
      `the queue of the API hands out at most ${max} batches each ${duration} ms, as set`,
      'max duration',
    );
  if (concurrency === undefined || (await queue.getActiveCount()) < concurrency) return undefined;
  return held(`the queue of the API hands out ${concurrency} at a time, as set`, 'concurrency');
}
