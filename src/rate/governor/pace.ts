/** Why the rate is what it is, for people. */
export const reasons = {
  unknown: 'looking for the limit of the API',
  learned: 'the limit found before',
  refused: 'calls were refused',
  held: 'just under the limit',
  probe: 'testing whether the limit has risen',
  risen: 'the limit has risen',
  dry: 'every call is refused',
  told: 'the API asks to wait',
  over: 'the API accepts calls again',
  last: 'what the API still allows is enough for the last rows',
  stated: 'the limit that the API has stated',
  compared: 'calls fail with 503: testing whether fewer do at a lower rate',
  tried: 'calls are refused now and then: testing whether that depends on the rate',
  independent: (share: number) =>
    `${Math.abs(share - 0.5) < 0.06 ? 'half' : `${Math.round(share * 100)} %`} of the calls fail with 503 at any rate`,
  capped: 'the API limits the calls in flight',
} as const;

/** Calls per second at the start, when nothing is known: low enough for any API. */
export const firstRate = 20;

/** Even this few calls per second show when more are accepted. */
export const slowestRate = 1 / 300;

/** The highest rate, whatever is learned or stated: more than any machine can send. */
export const fastestRate = 1_000_000;

/** A rate is in use when at least this share of it is used. */
export const inUse = 0.6;
