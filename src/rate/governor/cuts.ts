/** Below what is held, after a refusal, so that some allowance gathers; a longer wait has let it gather already. */
const belowHeld = 0.9;
const belowHeldAfterWait = 0.98;
const gatheredMs = 500;
/** The part of a rate that is certainly far too much. */
const farTooMuch = 0.5;
/** A search that is refused at once after the start may have met what the start had used up. */
const atOnce = 0.85;
/** Of what was accepted of a rate that was still too much, and the limits to what becomes of that rate. */
const ofAccepted = 0.85;
const slowest = 0.125;
const gentlest = 0.7;

/** The rate after a refusal, where one is held that is fine. */
export function cutToHeld(held: number, waitMs: number): number {
  return held * (waitMs > gatheredMs ? belowHeldAfterWait : belowHeld);
}

/** The rate after a refusal of a rate that was rising quickly. */
export function cutAfterStart(sending: number): number {
  return sending * farTooMuch;
}

/** The rate after a refusal of a search that had just begun. */
export function cutAtOnce(rate: number): number {
  return rate * atOnce;
}

/** The rate after one that was still too much. */
export function cutAgain(rate: number, acceptedPerSecond: number | undefined): number {
  const next = acceptedPerSecond === undefined ? rate / 2 : ofAccepted * acceptedPerSecond;
  return Math.min(Math.max(next, rate * slowest), rate * gentlest);
}
