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

/** What was said of one limit. */
interface Said extends Partial<Omit<LimitReading, 'windowMs'>> {
  readonly name: string;
  readonly windowSeconds: number | undefined;
}

/** The part of it that can be believed: absurd quotas and windows are left out, other absurd numbers are cut. */
export function limitReading(said: Said): LimitReading {
  const { name, unit = 'requests', quota = 0, windowSeconds = 0, remaining, resetMs } = said;
  const windowMs = windowSeconds * 1000;
  return {
    name,
    unit,
    quota: quota >= 1 && quota <= maxCalls ? quota : undefined,
    windowMs: windowMs > 0 && windowMs <= maxWindowMs ? windowMs : undefined,
    remaining: remaining === undefined ? undefined : Math.min(remaining, maxCalls),
    // One that is over is 0.
    resetMs: resetMs === undefined ? undefined : Math.min(Math.max(0, Math.ceil(resetMs)), maxWindowMs),
  };
}
