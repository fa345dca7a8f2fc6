import type { Allowance } from '../limits/limiter.ts';

/**
 * How answers tell what is left of the rate limit:
 *
 * - `ratelimit`: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10
 * - `ratelimit-fields`: `RateLimit-Limit`, `-Remaining` and `-Reset` of its versions up to 06, reset in seconds
 * - `x-ratelimit`: the same with `X-` before, reset in seconds since 1970
 */
export const limitHeaderStyles = ['none', 'ratelimit', 'ratelimit-fields', 'x-ratelimit'] as const;
export type LimitHeaderStyle = (typeof limitHeaderStyles)[number];

type Headers = Readonly<Record<string, string>>;

/** The headers for an allowance as it is at `now`, in milliseconds since 1970; `undefined`: there are none. */
export function limitHeaders(
  allowance: Allowance,
  style: LimitHeaderStyle,
  now: number,
): Headers | undefined {
  switch (style) {
    case 'none':
      return undefined;
    case 'ratelimit':
      return structuredFields(allowance);
    case 'ratelimit-fields':
      return threeFields('ratelimit', allowance, 0);
    case 'x-ratelimit':
      return threeFields('x-ratelimit', allowance, now);
  }
}

function structuredFields({ policy, remaining, moreAfter }: Allowance): Headers {
  const unit = policy.unit === 'requests' ? '' : `;qu="${policy.unit}"`;
  const window = policy.window === undefined ? '' : `;w=${policy.window}`;
  const reset = moreAfter === undefined ? '' : `;t=${wholeSeconds(moreAfter)}`;
  return {
    'ratelimit-policy': `"default";q=${policy.quota}${unit}${window}`,
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

/** Rounded up, but for what floating point adds. */
function wholeSeconds(milliseconds: number): number {
  return Math.ceil((milliseconds - 1e-3) / 1000);
}
