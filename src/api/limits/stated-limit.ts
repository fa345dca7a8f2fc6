import { type AnswerHeaders, serverTime } from '../headers.ts';
import { counterLimits } from './counter-limits.ts';
import type { LimitReading } from './limit-reading.ts';
import { policyLimits } from './policy-limits.ts';

/** What an answer says of one limit of the API: only what it said, malformed parts left out. */
export interface StatedLimit {
  /** The policy (`burst`, `burst;pk=:cHM=:`) or the family of the fields (`x-ratelimit-minute`), for telling limits apart. */
  readonly name: string;
  /** Calls permitted in each window, or at the same time, from 1 to `maxCalls`. */
  readonly quota?: number;
  /** Length of the window in milliseconds, up to `maxWindowMs`. */
  readonly windowMs?: number;
  /** Calls still permitted before the reset, from 0 to `maxCalls`. */
  readonly remaining?: number;
  /** Until further calls are permitted, in milliseconds from now, from 0 to `maxWindowMs`. */
  readonly resetMs?: number;
  /** What is counted (quota units of draft-ietf-httpapi-ratelimit-headers-10). */
  readonly unit: LimitUnit;
}

/** Calls in a window, or calls at the same time. */
export type LimitUnit = 'requests' | 'concurrent-requests';

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
  const limits: StatedLimit[] = [];
  for (const reading of [...policyLimits(headers), ...counterLimits(headers, serverTime(headers, now))]) {
    const limit = stated(reading);
    if (limit !== undefined) limits.push(limit);
  }
  return limits.length === 0 ? noLimits : limits;
}

/** Runs for every answer: it must not allocate. */
function mentionsLimits(headers: AnswerHeaders): boolean {
  for (const name in headers) {
    if (name.startsWith('ratelimit') || name.startsWith('x-rate')) return true;
  }
  return false;
}

function stated({ name, unit, quota, windowMs, remaining, resetMs }: LimitReading): StatedLimit | undefined {
  if (unit !== 'requests' && unit !== 'concurrent-requests') return undefined;
  // A window alone limits nothing.
  if ((quota ?? remaining ?? resetMs) === undefined) return undefined;
  return {
    name,
    ...(quota !== undefined && { quota }),
    ...(windowMs !== undefined && { windowMs }),
    ...(remaining !== undefined && { remaining }),
    ...(resetMs !== undefined && { resetMs }),
    unit,
  };
}
