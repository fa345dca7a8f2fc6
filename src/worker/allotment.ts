/** A rate above which spreading single calls is finer than timers are, and one below which a call would wait too long for it. */
const spreadBelow = 500;
const spreadFrom = 1;
/** Calls go out a little faster than the rate where it is the queue that keeps it. */
const spacingShare = 0.97;
/**
 * Of several workers each spaces its own calls; which gets how many of a window is chance. What one has too many of must
 * not wait beyond the window, or calls of two windows fall together.
 */
const sharedSpacingShare = 0.35;
/** What the queue lets out then, so that the gate never lacks a row. */
const queueHeadroom = 1.05;

/** Who calls, and how. */
export interface Callers {
  /** Workers of the API. */
  readonly workers: number;
  /** Whether a governor has found the rate; what the user wants is kept by the queue, whatever happens. */
  readonly governed: boolean;
}

/** Whether the gate keeps the rate: it spreads calls more evenly than the queue does, but knows only those of its process. */
export function gateKeeps(rate: number, { workers, governed }: Callers): boolean {
  return governed && workers === 1 && rate >= spreadFrom && rate <= spreadBelow;
}

/** Calls per second that the queue lets out for a rate that the gate keeps. */
export function withHeadroom(rate: number): number {
  return rate * queueHeadroom;
}

/**
 * Milliseconds between two calls of one worker, so that those that the queue lets out together are spread; 0: they need
 * not be.
 */
export function spacingOf(rate: number | undefined, callers: Callers): number {
  if (rate === undefined || rate > spreadBelow) return 0;
  return (spacingShareOf(rate, callers) * 1_000) / Math.max(rate, spreadFrom);
}

function spacingShareOf(rate: number, callers: Callers): number {
  if (gateKeeps(rate, callers)) return 1;
  return callers.workers === 1 ? spacingShare : sharedSpacingShare * callers.workers;
}

/** The calls in flight that are one worker's: no more than are allowed together, but one for each. */
export function shareOf(concurrency: number, workers: number, place: number): number {
  return Math.max(1, Math.floor(concurrency / workers) + (place < concurrency % workers ? 1 : 0));
}

/** Rows that are claimed for so many calls in flight: some wait, so that a call can begin as soon as another one ends. */
export function withSpare(concurrency: number): number {
  return concurrency + Math.max(2, Math.ceil(concurrency / 10));
}
