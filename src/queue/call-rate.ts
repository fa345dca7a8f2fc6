/** A rate as BullMQ takes it: so many calls in a window of so many milliseconds; both integers from 1. */
export interface CallRate {
  readonly calls: number;
  readonly perMs: number;
}

/** Short, so that calls are spread; BullMQ keeps to it within 1 % (longer windows are no more exact). */
const windowMs = 100;

/**
 * The integers that come closest to a number of calls per second, from below: the rate is never exceeded. Windows of much
 * the same length for any rate: a change would let as many calls out at once as the new window has more than the old.
 */
export function callRate(perSecond: number): CallRate {
  const callsInWindow = (perSecond * windowMs) / 1_000;
  if (callsInWindow < 1) return { calls: 1, perMs: Math.ceil(1_000 / perSecond - tolerance) };
  const calls = Math.floor(callsInWindow + tolerance);
  return { calls, perMs: Math.ceil((calls * 1_000) / perSecond - tolerance) };
}

/** Of floating point: 0.1 times 50 is 5. */
const tolerance = 1e-9;
