/** A rate as BullMQ takes it: so many calls in a window of so many milliseconds; both integers from 1. */
export interface CallRate {
  readonly calls: number;
  readonly perMs: number;
}

/** Short, so that calls are spread; BullMQ keeps to it within 1 % (longer windows are no more exact). */
const windowMs = 100;

/** Of so many calls in a window, one more or fewer makes little difference. */
const manyCalls = 100;

/**
 * The integers that come close to a number of calls per second, from below: the rate is never exceeded. Windows of much
 * the same length for any rate: a change would let as many calls out at once as the new window has more than the old.
 * Where their number changes, it does so halfway between round rates: those are the ones that are kept to for long.
 */
export function callRate(perSecond: number): CallRate {
  const exact = (perSecond * windowMs) / 1_000;
  const calls = exact < manyCalls ? Math.max(1, Math.round(exact)) : Math.floor(exact + tolerance);
  return { calls, perMs: Math.ceil((calls * 1_000) / perSecond - tolerance) };
}

/** Of floating point: 1,000 times 0.1 is 100. */
const tolerance = 1e-9;
