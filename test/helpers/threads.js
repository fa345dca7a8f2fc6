// @ts-check
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/**
 * Does all tasks in threads, in each one after the other.
 *
 * @template Task, Outcome
 * @param {URL} script answers each task, a message, with one message
 * @param {number} number of threads
 * @param {readonly Task[]} tasks
 * @param {(outcome: Outcome, place: number) => void} onOutcome
 */
export async function doInThreads(script, number, tasks, onOutcome) {
  const waiting = tasks.entries();
  const work = async () => {
    const thread = new Worker(script);
    const failed = once(thread, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => {});
    for (const [place, task] of waiting) {
      thread.postMessage(task);
      const [outcome] = await Promise.race([once(thread, 'message'), failed]);
      onOutcome(outcome, place);
    }
    await thread.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(number, tasks.length) }, work));
}
