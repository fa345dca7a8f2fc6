/** Calls go out a little faster than the rate, so that it is the datastore that limits it, not the timers here. */
const spacingShare = 0.97;
/**
 * Of several workers each spaces its own calls; which gets how many of a window is chance. What one has too many of must
 * not wait beyond the window, or calls of two windows fall together.
 */
const sharedSpacingShare = 0.35;
/** A rate above which spreading single calls is finer than timers are. */
const spreadBelow = 500;

/**
 * Milliseconds between two calls of one of so many workers, so that those that the datastore lets out together are
 * spread; 0: they need not be.
 */
export function spacingOf(rate: number | undefined, workers: number): number {
  if (rate === undefined || rate > spreadBelow) return 0;
  const share = workers === 1 ? spacingShare : sharedSpacingShare * workers;
  return (share * 1_000) / Math.max(rate, 1);
}

/** The calls in flight that are one worker's: no more than are allowed together, but one for each. */
export function shareOf(concurrency: number, workers: number, place: number): number {
  return Math.max(1, Math.floor(concurrency / workers) + (place < concurrency % workers ? 1 : 0));
}

/** Rows that are claimed for so many calls in flight: some wait, so that a call can begin as soon as another one ends. */
export function withSpare(concurrency: number): number {
  return concurrency + Math.max(2, Math.ceil(concurrency / 10));
}
