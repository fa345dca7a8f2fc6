/** A probe begins so slowly that a limit that is where it was refuses few calls, the later that is known the slower. */
const gentleSeconds = 3;
const gentleReactions = 5;
const doublingSeconds = 1.5;

/**
 * By what a rate has grown after so many seconds of a probe: slowly until it has doubled, then doubling.
 *
 * @param reactionMs how long it takes until refusals show
 */
export function growth(seconds: number, reactionMs: number): number {
  const gentle = gentleSeconds + (gentleReactions * reactionMs) / 1_000;
  return (
    (1 + (Math.min(seconds, gentle) / gentle) ** 2) * 2 ** (Math.max(0, seconds - gentle) / doublingSeconds)
  );
}

/** What comes nearer to a goal, by a factor e in so many seconds, after some. */
export function approached(value: number, goal: number, seconds: number, inSeconds: number): number {
  return value + (goal - value) * Math.min(1, seconds / inSeconds);
}
