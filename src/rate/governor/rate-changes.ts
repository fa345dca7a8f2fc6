/** At the beginning the rate doubles in such a time, or in that of so many reactions. */
const startSeconds = 0.5;
const startReactions = 4;
/** A search between a rate that was fine and one that was not takes so long. */
const searchSeconds = 2.5;
/** A probe begins so slowly that a limit that is where it was refuses few calls, the later that is known the slower. */
const gentleSeconds = 3;
const gentleReactions = 5;
const doublingSeconds = 1.5;

/**
 * By what a rate grows in so many seconds while nothing is known of the limit.
 *
 * @param reactionMs how long it takes until refusals show
 */
export function startingGrowth(seconds: number, reactionMs: number): number {
  return 2 ** (seconds / Math.max(startSeconds, (startReactions * reactionMs) / 1_000));
}

/** What a search has come to after so many seconds, from a rate that was fine up to one that failed, and on from there. */
export function searchedRate(fine: number, failed: number, seconds: number, reactionMs: number): number {
  if (seconds <= searchSeconds) return fine + ((failed - fine) * seconds) / searchSeconds;
  return failed * probingGrowth(seconds - searchSeconds, reactionMs);
}

/** By what a rate has grown after so many seconds of a probe: slowly until it has doubled, then doubling. */
export function probingGrowth(seconds: number, reactionMs: number): number {
  const gentle = gentleSeconds + (gentleReactions * reactionMs) / 1_000;
  return (
    (1 + (Math.min(seconds, gentle) / gentle) ** 2) * 2 ** (Math.max(0, seconds - gentle) / doublingSeconds)
  );
}

/** What comes nearer to a goal, by a factor e in so many seconds, after some. */
export function approached(value: number, goal: number, seconds: number, inSeconds: number): number {
  return value + (goal - value) * Math.min(1, seconds / inSeconds);
}

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
