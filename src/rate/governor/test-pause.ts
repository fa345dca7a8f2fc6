const minuteMs = 60_000;
const shortestMs = 1_000;
const longestInFirstMinuteMs = 10_000;
const longestMs = 300_000;

/** How long to wait until the next call tests whether calls are accepted again, after none was for so long. */
export function testPause(elapsedMs: number): number {
  if (elapsedMs < minuteMs) return Math.min(Math.max(elapsedMs, shortestMs), longestInFirstMinuteMs);
  return Math.min(elapsedMs / 6, longestMs);
}
