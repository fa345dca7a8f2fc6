/** How a probe begins: so slowly that a limit that is where it was refuses few calls. */
const gentleSeconds = 4.5;
const gentleSlope = 0.05;
const doublingSeconds = 1.5;

/** By what a rate has grown after so many seconds of a probe: slowly at first, then doubling. */
export function growth(seconds: number): number {
  const gentle = 1 + gentleSlope * Math.min(seconds, gentleSeconds) ** 2;
  return gentle * 2 ** (Math.max(0, seconds - gentleSeconds) / doublingSeconds);
}

/** What comes nearer to a goal, by a factor e in so many seconds, after some. */
export function approached(value: number, goal: number, seconds: number, inSeconds: number): number {
  return value + (goal - value) * Math.min(1, seconds / inSeconds);
}
