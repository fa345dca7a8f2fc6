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

/** What an answer says of a limit on whatever is counted: calls, bytes, … */
export type LimitReading = Omit<StatedLimit, 'unit'> & { readonly unit: string };

/** Largest quota and largest number of remaining calls that are believed. */
export const maxCalls = 1e9;

/** Longest window and longest time to a reset that are believed: 366 days in milliseconds. */
export const maxWindowMs = 366 * 86_400_000;

/** A whole number, not negative, of decimal digits; undefined for any other text. */
export function statedNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** What was said of one limit. */
interface Said {
  readonly name: string;
  readonly unit?: string;
  readonly quota?: number | undefined;
  readonly windowSeconds: number | undefined;
  readonly remaining?: number | undefined;
  readonly resetMs?: number | undefined;
}

/** The part of it that can be believed: absurd quotas and windows are left out, other absurd numbers are cut. */
export function limitReading(said: Said): LimitReading {
  const { name, unit = 'requests', quota = 0, windowSeconds = 0, remaining, resetMs } = said;
  const windowMs = windowSeconds * 1000;
  return {
    name,
    ...(quota >= 1 && quota <= maxCalls && { quota }),
    ...(windowMs > 0 && windowMs <= maxWindowMs && { windowMs }),
    ...(remaining !== undefined && { remaining: Math.min(remaining, maxCalls) }),
    // One that is over is 0.
    ...(resetMs !== undefined && { resetMs: Math.min(Math.max(0, Math.ceil(resetMs)), maxWindowMs) }),
    unit,
  };
}
