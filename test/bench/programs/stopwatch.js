// @ts-check

/**
 * @typedef {object} Speed
 * @property {number} rowsPerSecond
 * @property {number} cpuMicroseconds of all threads of the process, per row
 * @property {number} [warmCpuMicroseconds] the same for the rows from a half to 95 % of them, if `passed` was called for them
 */

/** Measures the work of this process, from now or from `restart`. */
export function startWatch() {
  let start = performance.now();
  let cpu = process.cpuUsage();
  /** @type {{ done: number, cpu: number }[]} */
  const marks = [];
  return {
    /** This many of the rows are done. */
    passed(/** @type {number} */ done, /** @type {number} */ rows) {
      if (done < (marks.length === 0 ? 0.5 : 0.95) * rows || marks.length === 2) return;
      const { user, system } = process.cpuUsage();
      marks.push({ done, cpu: user + system });
    },
    restart() {
      start = performance.now();
      cpu = process.cpuUsage();
    },
    /** @returns {Speed} */
    speed(/** @type {number} */ rows) {
      const { user, system } = process.cpuUsage(cpu);
      const [half = { done: 0, cpu: 0 }, end] = marks;
      return {
        rowsPerSecond: rows / ((performance.now() - start) / 1_000),
        cpuMicroseconds: (user + system) / rows,
        ...(end !== undefined && { warmCpuMicroseconds: (end.cpu - half.cpu) / (end.done - half.done) }),
      };
    },
  };
}
