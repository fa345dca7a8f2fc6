export interface Allowance {
  readonly policy: Policy;
  /** The number of requests that would be admitted now. */
  readonly remaining: number;
  /** The time until `remaining` grows, in milliseconds; absent when unknown. */
  readonly moreAfter?: number;
  /** The time until the whole allowance is back, in milliseconds; absent when unknown. */
  readonly wholeAfter?: number;
}

/** A quota in whole numbers, as servers announce it. */
export interface Policy {
  /** The requests in each window; without a window, the requests in flight at once. */
  readonly quota: number;
  /** The length of the window in seconds. */
  readonly window?: number;
  readonly capacity: number;
}

/** Counts several windows as one when a window does not last whole seconds. `length` is in whole ms. */
export function windowPolicy(limit: number, length: number): Policy {
  const windows = 1000 / commonDivisor(length, 1000);
  return { quota: limit * windows, window: (length * windows) / 1000, capacity: limit };
}

/** The shortest window with a whole quota, for a rate of up to six decimals. */
export function ratePolicy(rate: number, capacity: number): Policy {
  const millionths = Math.round(rate * 1e6);
  const divisor = commonDivisor(millionths, 1e6);
  return { quota: millionths / divisor, window: 1e6 / divisor, capacity: Math.floor(capacity) };
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

/**
 * How answers state what remains of the rate limit:
 *
 * - `ratelimit`: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-11
 * - `ratelimit-fields`: `RateLimit-Limit`, `-Remaining` and `-Reset` of its versions up to 06, reset in seconds
 * - `x-ratelimit`: these fields with the prefix `X-`, reset in seconds since 1970
 */
export const limitHeaderStyles = ['none', 'ratelimit', 'ratelimit-fields', 'x-ratelimit'] as const;
export type LimitHeaderStyle = (typeof limitHeaderStyles)[number];

type Headers = Readonly<Record<string, string>>;

/** `now` is in milliseconds since 1970; undefined when answers have no such headers. */
export function limitHeaders(
  allowance: Allowance,
  style: LimitHeaderStyle,
  now: number,
): Headers | undefined {
  if (style === 'none') return undefined;
  if (style === 'ratelimit') return structuredFields(allowance);
  return style === 'x-ratelimit'
    ? threeFields('x-ratelimit', allowance, now)
    : threeFields('ratelimit', allowance, 0);
}

function structuredFields({ policy, remaining, moreAfter }: Allowance): Headers {
  const per = policy.window === undefined ? 'qu="concurrent-requests"' : `w=${policy.window}`;
  const reset = moreAfter === undefined ? '' : `;t=${wholeSeconds(moreAfter)}`;
  return {
    'ratelimit-policy': `"default";q=${policy.quota};${per}`,
    ratelimit: `"default";r=${remaining}${reset}`,
  };
}

function threeFields(prefix: string, { policy, remaining, wholeAfter }: Allowance, since: number): Headers {
  return {
    [`${prefix}-limit`]: String(policy.capacity),
    [`${prefix}-remaining`]: String(remaining),
    ...(wholeAfter !== undefined && { [`${prefix}-reset`]: String(wholeSeconds(since + wholeAfter)) }),
  };
}

/** Rounds up, but not for the error of floating point. */
function wholeSeconds(milliseconds: number): number {
  return Math.ceil((milliseconds - 1e-3) / 1000);
}
