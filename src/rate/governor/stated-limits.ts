import type { StatedLimit } from '../../api/limits/stated-limit.ts';

/** Names of limits come from the server. */
const maxLimits = 16;
const forgottenAfterMs = 120_000;
/** Ends of windows are told in whole seconds, and what tells them takes its time: such a difference is none. */
const roundingMs = 1_500;
/** An end that moves along with the calls is taken for one that does for so long. */
const rollingMs = 60_000;
/** The end of a shorter window is told too coarsely to plan with. */
const shortWindowMs = 5_000;
const dayMs = 86_400_000;

/** One limit, as the answers have told of it so far. Times are milliseconds. */
export interface KnownLimit {
  /** Calls in a window. */
  readonly quota: number | undefined;
  /** Length of the window, where it is told. */
  readonly windowMs: number | undefined;
  /** Calls that are left of this window. */
  readonly remaining: number | undefined;
  /** When further calls are permitted: the earliest time that fits all that was said of this window. */
  readonly resetAt: number | undefined;
  /** Whether the end of the window was far enough away to plan with when the window was first seen. */
  readonly isLong: boolean;
  /** Until when the end counts as one that moves along with the calls, as that of a bucket or a sliding window does. */
  readonly rollingUntil: number;
  readonly seenAt: number;
}

/** Remembers what answers say of the limits, and tells the end of a window more exactly than each of them does. */
export class StatedLimits {
  readonly #limits = new Map<string, KnownLimit>();

  update(now: number, stated: readonly StatedLimit[]): void {
    for (const limit of stated) {
      if (limit.unit === 'requests' && (this.#limits.has(limit.name) || this.#limits.size < maxLimits))
        this.#limits.set(limit.name, known(now, limit, this.#limits.get(limit.name)));
    }
    for (const [name, { seenAt, resetAt = 0 }] of this.#limits)
      if (now > Math.max(seenAt + forgottenAfterMs, Math.min(resetAt, seenAt + dayMs)))
        this.#limits.delete(name);
  }

  values(): Iterable<KnownLimit> {
    return this.#limits.values();
  }
}

function known(now: number, limit: StatedLimit, before: KnownLimit | undefined): KnownLimit {
  const { quota, windowMs, remaining, resetMs } = limit;
  const told = resetMs === undefined ? undefined : now + Math.min(resetMs, dayMs);
  const end = before?.resetAt;
  const moved = told !== undefined && end !== undefined && told > end + roundingMs;
  // As long as a window lasts, its end stays where it is.
  const rolls = moved && now < end - roundingMs;
  const isNew = moved || (told !== undefined && end === undefined);
  return {
    quota,
    windowMs,
    remaining: remaining === undefined ? undefined : Math.min(remaining, quota ?? remaining),
    resetAt: isNew ? told : told === undefined || end === undefined ? end : Math.min(told, end),
    isLong: isNew ? (resetMs ?? 0) > shortWindowMs : (before?.isLong ?? false),
    rollingUntil: rolls ? now + rollingMs : (before?.rollingUntil ?? 0),
    seenAt: now,
  };
}
