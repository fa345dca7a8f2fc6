export const reasons = {
  unknown: 'looking for the API limit',
  learned: 'the limit of the last run',
  refused: 'calls were rejected',
  justUnder: 'just under the limit',
  probe: 'testing whether the limit has risen',
  risen: 'the limit has risen',
  dry: 'every call is rejected',
  asked: 'the API asks to wait',
  over: 'the API accepts calls again',
  last: 'the remaining allowance of the API is enough for the last rows',
  stated: 'the limit that the API stated',
  compared: 'calls fail with 503: testing a lower rate',
  tried: 'some calls are rejected: testing whether the rate is the cause',
  independent: (share: number) =>
    `${Math.abs(share - 0.5) < 0.06 ? 'half' : `${Math.round(share * 100)} %`} of the calls fail with 503 at any rate`,
  requested: 'as requested',
  unlimited: 'no limit requested',
  capped: 'the API limits the calls in flight',
} as const;

/** The first rate when nothing is known, calls per second: low enough for any API. */
export const firstRate = 20;

/** The slowest rate, calls per second: at this rate, calls still show when more are accepted. */
export const slowestRate = 1 / 300;

/** The fastest rate that is believed when it was learned or stated. */
export const fastestRate = 1_000_000;

/** The share of a rate from which the rate counts as used. */
export const inUse = 0.6;
