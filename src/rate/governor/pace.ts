/** Why a rate is as it is, for people. */
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

/** Calls per second to begin with when nothing is known: nobody minds so few. */
export const firstRate = 20;

/** So few calls per second still show when more are accepted. */
export const slowestRate = 1 / 300;

/** Whatever is learned or stated: more than any machine can send. */
export const fastestRate = 1_000_000;

/** A rate is in use when at least such a part of it is. */
export const inUse = 0.6;
