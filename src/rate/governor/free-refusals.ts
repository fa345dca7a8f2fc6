import { type Gain, gainOf } from './gains.ts';
import type { Bracket, Conclusions, Refusal } from './refusal.ts';

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
