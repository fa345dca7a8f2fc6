/** From one refusal to the next: the allowance was used up at both ends, so what was accepted between is its gain. */
export interface Cycle {
  readonly accepted: number;
  /** Seconds in which calls were made, and seconds in which the API had asked to wait. */
  readonly activeSeconds: number;
  readonly waitedSeconds: number;
}

/** What an API's allowance gains. */
export interface Gain {
  /** Calls per second. */
  readonly perSecond: number;
  /** The rate that is certainly too much: the less is known, the farther above. */
  readonly atMost: number;
}

/** Shorter cycles tell nothing. */
const fewestSeconds = 1;
const fewestCalls = 2;
/** Calls by which a cycle may be counted wrongly, and by which share a gain is never known better. */
const uncertainCalls = 3;
const uncertainShare = 0.01;

/**
 * What the allowance gains per second. An API that asks to wait fills it meanwhile, nobody knows how far.
 *
 * @returns undefined when the cycle tells nothing.
 */
export function gainOf({ accepted, activeSeconds, waitedSeconds }: Cycle): Gain | undefined {
  if (waitedSeconds > 0 || activeSeconds < fewestSeconds || accepted < fewestCalls) return undefined;
  const perSecond = accepted / activeSeconds;
  return { perSecond, atMost: perSecond * (1 + Math.max(uncertainShare, uncertainCalls / accepted)) };
}
