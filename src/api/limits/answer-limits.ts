import { type AnswerHeaders, serverTime } from '../headers.ts';
import { counterLimits } from './counter-limits.ts';
import { policyLimits } from './policy-limits.ts';
import type { LimitReading, StatedLimit } from './stated-limit.ts';

/** The limits of an answer that states none. */
export const noLimits: readonly StatedLimit[] = [];

/**
 * Every limit on calls that an answer states: those of `RateLimit` and `RateLimit-Policy`, then those of the fields
 * `RateLimit-…`, `X-RateLimit-…` and `X-Rate-Limit-…`. Limits on anything else, such as bytes, are left out.
 *
 * @param now milliseconds since 1970, for answers without a `Date`
 */
export function statedLimits(headers: AnswerHeaders, now: number): readonly StatedLimit[] {
  if (!mentionsLimits(headers)) return noLimits;
  const readings = [...policyLimits(headers), ...counterLimits(headers, serverTime(headers, now))];
  const limits = readings.filter(isOnCalls);
  return limits.length === 0 ? noLimits : limits;
}

/** Runs for every answer: it must not allocate. */
function mentionsLimits(headers: AnswerHeaders): boolean {
  for (const name in headers) {
    if (name.startsWith('ratelimit') || name.startsWith('x-rate')) return true;
  }
  return false;
}

/** A window alone limits nothing. */
function isOnCalls(limit: LimitReading): limit is StatedLimit {
  const { unit, quota, remaining, resetMs } = limit;
  return (
    (unit === 'requests' || unit === 'concurrent-requests') && (quota ?? remaining ?? resetMs) !== undefined
  );
}
