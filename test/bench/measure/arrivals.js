// @ts-check

/**
 * The slope of the line that fits the number of arrivals over time best (least squares). Counting from the first to the
 * last arrival would flatter calls that come in bursts by up to one burst.
 *
 * @param {readonly number[]} times of arrivals, in milliseconds
 * @returns {number} arrivals per second
 */
export function arrivalsPerSecond(times) {
  const meanTime = times.reduce((sum, time) => sum + time, 0) / times.length;
  const meanCount = (times.length - 1) / 2;
  let covariance = 0;
  let variance = 0;
  for (const [count, time] of times.entries()) {
    covariance += (count - meanCount) * (time - meanTime);
    variance += (time - meanTime) ** 2;
  }
  return (1_000 * covariance) / variance;
}

/**
 * The most arrivals within any second, wherever it begins.
 *
 * @param {readonly number[]} times of arrivals, in milliseconds, in order
 */
export function mostInOneSecond(times) {
  let most = 0;
  let oldest = 0;
  for (const [index, time] of times.entries()) {
    while ((times[oldest] ?? time) <= time - 1_000) oldest += 1;
    most = Math.max(most, index - oldest + 1);
  }
  return most;
}
