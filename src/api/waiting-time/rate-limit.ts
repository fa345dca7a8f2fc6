import type { AnswerHeaders } from '../headers.ts';
import { counterLimits } from '../limits/counter-limits.ts';
import { policyLimits } from '../limits/policy-limits.ts';

/**
 * The waiting time of `RateLimit` in milliseconds (draft-ietf-httpapi-ratelimit-headers): the longest `t` of the limits
 * that are used up (`r=0`), whatever they count. A limit without `t` takes the window `w` of its `RateLimit-Policy`.
 */
export function rateLimitMs(headers: AnswerHeaders): number | undefined {
  const waits = policyLimits(headers)
    .filter(({ remaining }) => remaining === 0)
    .map(({ resetMs, windowMs }) => resetMs ?? windowMs)
    .filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * The waiting time of `RateLimit-Reset` (older drafts) or `X-RateLimit-Reset` (no standard) in milliseconds. They say
 * nothing when the limit is not used up.
 *
 * @param serverNow the server's time in milliseconds since 1970
 */
export function rateLimitResetMs(headers: AnswerHeaders, serverNow: number): number | undefined {
  const usedUp = counterLimits(headers, serverNow).find(
    ({ remaining, resetMs }) => resetMs !== undefined && (remaining ?? 0) === 0,
  );
  return usedUp?.resetMs;
}
