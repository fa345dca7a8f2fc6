// @ts-check

/**
 * Does all tasks, some of them at the same time, starting them in the given order.
 *
 * @template Result
 * @param {number} most at the same time
 * @param {readonly (() => Promise<Result>)[]} tasks
 * @returns {Promise<Result[]>} in the order of the tasks
 */
export async function atOnce(most, tasks) {
  /** @type {Result[]} */
  const results = [];
  const waiting = tasks.entries();
  const work = async () => {
    for (const [index, task] of waiting) results[index] = await task();
  };
  await Promise.all(Array.from({ length: most }, work));
  return results;
}
