/** What can be delayed anew: a queue of BullMQ. */
interface DelayedJobs {
  getDelayed(
    start: number,
    end: number,
  ): Promise<{ readonly delay: number; changeDelay(delay: number): Promise<void> }[]>;
}

/** So many at a time. */
const pageSize = 500;

/**
 * Begins the delays of all delayed jobs anew. BullMQ keeps their ends as times of the system's clock: set back, it would
 * keep them waiting for that much longer. So none waits for more than twice its delay, and none comes too early.
 */
export async function delayAnew(queue: DelayedJobs): Promise<void> {
  const jobs = [];
  for (let page = await queue.getDelayed(0, pageSize - 1); page.length > 0; ) {
    jobs.push(...page);
    page = page.length < pageSize ? [] : await queue.getDelayed(jobs.length, jobs.length + pageSize - 1);
  }
  // One that is not delayed any more needs nothing.
  for (const job of jobs) await job?.changeDelay(job.delay).catch(() => {});
}
