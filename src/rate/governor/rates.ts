/** Calls per second to begin with when nothing is known: nobody minds so few. */
export const firstRate = 20;

/** So few calls per second still show when more are accepted. */
export const slowestRate = 1 / 300;

/** Whatever is learned or stated: more than any machine can send. */
export const fastestRate = 1_000_000;

/** A rate is in use when at least such a part of it is. */
export const inUse = 0.6;
