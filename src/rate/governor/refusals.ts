/** A refusal, with what is known of the calls before it. */
export interface Refusal {
  /** Calls that were sent per second when it happened. */
  readonly sending: number;
  /** What the API had accepted since the refusal before. */
  readonly cycle: Cycle | undefined;
  /** Whether the API asks to wait. */
  readonly isCostly: boolean;
}

/** A rate that the limit is not below, and one that was too much; calls per second. */
export interface Bracket {
  readonly held: number;
  readonly failed: number;
}

/** What is concluded from refusals. */
export interface Conclusions {
  /** A probe was refused. It had used up what gathered while less was used: the rate at its end is far above the limit. */
  ofProbe(before: Bracket, refusal: Refusal): Bracket;
  /** A search was refused. */
  ofSearch(held: number | undefined, refusal: Refusal): Bracket;
  /** A rate was refused after it was held for so long. */
  ofHold(held: number, refusal: Refusal, heldMs: number): Bracket;
}

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

/** By how much a failed probe lets the rate come nearer to it: more where it was far above what had failed before. */
const afterProbe = 1.03;
const afterFarProbe = 1.1;
const ofFarProbe = 0.7;
/** The rate at which a search failed is above the limit by no more than that. */
const afterSearch = 0.8;
/** A rate that failed after it was held for so long can't be far from fine; one that failed at once may be. */
const heldLongMs = 5_000;
const afterLong = 0.95;
const afterShort = 0.85;

/**
 * Of refusals that cost nothing but themselves: what was accepted from one to the next is what the allowance gains. Where
 * that is wrong, the next refusal tells soon.
 */
export const freeRefusals: Conclusions = {
  ofProbe: ({ held, failed }, refusal) =>
    concluded(refusal, held, () =>
      Math.min(Math.max(ofFarProbe * refusal.sending, failed * afterProbe), failed * afterFarProbe),
    ),
  ofSearch: (held = 0, refusal) =>
    concluded(refusal, Math.max(held, refusal.sending * afterSearch), () => refusal.sending),
  ofHold: (held, refusal, heldMs) =>
    concluded(
      refusal,
      held * (heldMs < heldLongMs ? afterShort : afterLong),
      (gain) => gain?.atMost ?? refusal.sending,
    ),
};

function concluded(
  { sending, cycle }: Refusal,
  fine: number,
  failed: (gain: Gain | undefined) => number,
): Bracket {
  const gain = cycle && gainOf(cycle);
  return {
    held: Math.min(Math.max(fine, gain?.perSecond ?? 0), sending),
    failed: Math.min(sending, failed(gain)),
  };
}
