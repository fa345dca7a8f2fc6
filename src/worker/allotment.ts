/** A rate above which spreading single calls is finer than timers are, and one below which calls would wait too long. */
const spreadBelow = 500;
const spreadFrom = 1;
/** Calls go out a little faster than the rate where it is the queue that keeps it. */
const spacingShare = 0.97;
/**
 * Of several workers each spaces its own calls; which gets how many of a window is chance. What one has too many of must
 * not wait beyond the window, or calls of two windows fall together.
 */
const sharedSpacingShare = 0.35;
/** What the queue lets out of a rate that the gates keep, so that no gate lacks a row. */
const queueHeadroom = 1.05;

/** How a rate is kept. */
export interface Keeping {
  /** Workers of the API. */
  readonly workers: number;
  /** Whether the gates of the workers keep it, each an equal part of it, or the queue. */
  readonly gatesKeep: boolean;
}

/** Whether the gates of so many workers can keep a rate: they spread calls more evenly than the queue does. */
export function gatesCanKeep(rate: number, workers: number): boolean {
  const each = rate / workers;
  return each >= spreadFrom && each <= spreadBelow;
}

/** Calls per second that the queue lets out for a rate that the gates keep. */
export function withHeadroom(rate: number): number {
  return rate * queueHeadroom;
}

/**
 * Milliseconds between two calls of one worker, so that those that the queue lets out together are spread; 0: they need
 * not be.
 */
export function spacingOf(rate: number | undefined, { workers, gatesKeep }: Keeping): number {
  if (rate === undefined) return 0;
  if (gatesKeep) return (workers * 1_000) / rate;
  if (rate > spreadBelow) return 0;
  const share = workers === 1 ? spacingShare : sharedSpacingShare * workers;
  return (share * 1_000) / Math.max(rate, spreadFrom);
}

/** The calls in flight that are one worker's: no more than are allowed together, but one for each. */
export function shareOf(concurrency: number, workers: number, place: number): number {
  return Math.max(1, Math.floor(concurrency / workers) + (place < concurrency % workers ? 1 : 0));
}

/** Rows that are claimed for so many calls in flight: some wait, so that a call can begin as soon as another one ends. */
export function withSpare(concurrency: number): number {
  return concurrency + Math.max(2, Math.ceil(concurrency / 10));
}
