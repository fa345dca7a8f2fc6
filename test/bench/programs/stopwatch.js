// @ts-check

/**
 * @typedef {object} Speed
 * @property {number} rowsPerSecond
 * @property {number} cpuMicroseconds of all threads of the process, per row
 */

/** Measures the work of this process, from now or from `restart` on. */
export function startWatch() {
  let start = performance.now();
  let cpu = process.cpuUsage();
  return {
    restart() {
      start = performance.now();
      cpu = process.cpuUsage();
    },
    /** @returns {Speed} */
    speed(/** @type {number} */ rows) {
      const { user, system } = process.cpuUsage(cpu);
      return {
        rowsPerSecond: rows / ((performance.now() - start) / 1_000),
        cpuMicroseconds: (user + system) / rows,
      };
    },
  };
}
