/** What was read of one limit, whatever it counts; `undefined` where nothing was said, or nothing that can be believed. */
export interface LimitReading {
  readonly name: string;
  /** Quota unit: `requests`, or any other of the registry of draft-ietf-httpapi-ratelimit-headers. */
  readonly unit: string;
  /** Units permitted in each window. */
  readonly quota: number | undefined;
  /** Length of the window in milliseconds. */
  readonly windowMs: number | undefined;
  /** Units still permitted. */
  readonly remaining: number | undefined;
  /** Until further units are permitted, in milliseconds from now. */
  readonly resetMs: number | undefined;
}

/** Largest quota and largest number of remaining calls that are believed. */
export const maxCalls = 1e9;

/** Longest window and longest time to a reset that are believed: 366 days in milliseconds. */
export const maxWindowMs = 366 * 86_400_000;

/** A whole number, not negative, of decimal digits; undefined for any other text. */
export function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** A quota from 1 to `maxCalls`; any other one is not believed. */
export function quotaOf(calls: number | undefined): number | undefined {
  return calls !== undefined && calls >= 1 && calls <= maxCalls ? calls : undefined;
}

/** A window in milliseconds, up to `maxWindowMs`; an empty or longer one is not believed. */
export function windowMsOf(seconds: number | undefined): number | undefined {
  const ms = (seconds ?? 0) * 1000;
  return ms > 0 && ms <= maxWindowMs ? ms : undefined;
}

/** Remaining calls, cut to `maxCalls`. */
export function remainingOf(calls: number | undefined): number | undefined {
  return calls === undefined ? undefined : Math.min(calls, maxCalls);
}

/** A time to a reset in whole milliseconds, cut to `maxWindowMs`; one that is over is 0. */
export function resetMsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(Math.max(0, Math.ceil(ms)), maxWindowMs);
}
