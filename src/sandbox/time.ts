/**
 * Milliseconds since 1970 UTC, by a clock that never goes back: the time of day at the start, and what has passed
 * since. Corrections of the system's clock are not followed.
 */
export function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}

/** A time in milliseconds since 1970 as RFC 3339 in UTC, without fractions of a second. */
export function formatTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
