import type { StatedLimit } from '../../api/limits.ts';
import { longestSpreadMs } from './quota-exhaustion.ts';
import { Backoff } from './schedules.ts';
import type { Traffic } from './traffic.ts';

/** Clocks and journeys differ: just below what is permitted, and lower when calls are refused in spite of that (50/s, 52/s stated). */
const caution = 0.986;
const lowered = 0.99;
const lowest = 0.95;
/** What was lowered comes back in such a time (of an exponential). */
const forgivenMs = 300_000;
/** Calls leave early or late by so much: one more than permitted must not fall into a short window for that. */
const jitterMs = 25;
/** What remains of a window that is not spread is used no faster than in such a time, so that its end is met without a refusal. */
const usedUpInMs = 1_000;
/** The last calls of a window are not sent all at once. */
const shortestSpreadMs = 250;
/** So many rejections within such a time, and what the API states can't be all of it (50/s, 100/s stated). */
const contradictions = 4;
const contradictionsWithinMs = 10_000;

/** What the API's own words allow. */
export interface StatedRate {
  /** Calls per second, where they tell the pace. */
  readonly rate?: number;
  /** Calls per second that may not be exceeded in any case. */
  readonly ceiling: number;
  /** When more are permitted, if none is now, milliseconds. */
  readonly restUntil?: number;
  /** Whether a window is not spread because it has enough for all rows that are left. */
  readonly isEnough?: true;
}

/**
 * The rate that the API's own words allow:
 *
 * - quota and a short window are spread evenly;
 * - in a longer window, what remains is spread over what is left of it, unless it is enough for all rows that are left;
 * - what a window of hours allows may be used at once, but for its last calls;
 * - anything less says too little, and the rate is searched for; `statedRemaining` then warns before calls are refused.
 */
export class StatedPace {
  readonly #limits = new StatedLimits();
  #rejections: number[] = [];
  /** The part of what is stated that is used, for what was refused in spite of it. */
  #share = 1;
  #updatedAt: number | undefined;
  readonly #backoff = new Backoff();

  /**
   * @param unexpected whether calls were rejected that kept to what was stated
   * @param rows that are left to be called; default: nobody knows
   */
  update(
    now: number,
    stated: readonly StatedLimit[],
    unexpected: boolean,
    rows = Number.POSITIVE_INFINITY,
  ): void {
    this.#limits.update(now, stated, rows);
    this.#rejections = this.#rejections.filter((at) => at > now - contradictionsWithinMs);
    this.#share += (1 - this.#share) * Math.min(1, (now - (this.#updatedAt ?? now)) / forgivenMs);
    this.#updatedAt = now;
    if (unexpected) {
      this.#rejections.push(now);
      this.#share = Math.max(lowest, this.#share * lowered);
    }
    if (this.#rejections.length < contradictions) return;
    this.#rejections = [];
    this.#backoff.begin(now);
  }

  /**
   * What keeps to every limit.
   *
   * @param active calls in flight: what remains may not count them yet.
   */
  allowed(now: number, active: number): StatedRate {
    let allowed: StatedRate = { ceiling: Number.POSITIVE_INFINITY };
    if (this.#backoff.lasts(now)) return allowed;
    for (const limit of this.#limits.values()) allowed = both(allowed, allowedBy(limit, now, active));
    if (allowed.rate === undefined) return allowed;
    return { ...allowed, rate: allowed.rate * this.#share };
  }
}

/** The fewest calls that answers say are permitted until a time that they tell. */
export function statedRemaining({ stated }: Traffic): number | undefined {
  const remaining = stated.flatMap((limit) =>
    // Without a time, it may be the calls in flight that are counted.
    limit.unit === 'requests' && limit.resetMs !== undefined && limit.remaining !== undefined
      ? [limit.remaining]
      : [],
  );
  return remaining.length === 0 ? undefined : Math.min(...remaining);
}

function both(one: StatedRate, other: StatedRate): StatedRate {
  const rate = Math.min(one.rate ?? Number.POSITIVE_INFINITY, other.rate ?? Number.POSITIVE_INFINITY);
  const restUntil = Math.max(one.restUntil ?? 0, other.restUntil ?? 0);
  return {
    ...(rate < Number.POSITIVE_INFINITY && { rate }),
    ceiling: Math.min(one.ceiling, other.ceiling),
    ...(restUntil > 0 && { restUntil }),
    ...((one.isEnough || other.isEnough) && { isEnough: true }),
  };
}

function allowedBy(limit: KnownLimit, now: number, active: number): StatedRate {
  const { remaining, resetAt = 0, isLong, isEnough, rollingUntil } = limit;
  const leftMs = resetAt - now;
  if (remaining === undefined || !isLong || leftMs <= 0 || now < rollingUntil) return evenly(limit);
  if (remaining === 0) return { ceiling: 1, restUntil: resetAt };
  const free = Math.max(remaining - active, 0.5);
  const ceiling = (free * 1_000) / usedUpInMs;
  if (isEnough) return { ceiling, isEnough };
  if (leftMs > longestSpreadMs) return { ceiling };
  const rate = (free * 1_000) / Math.max(leftMs, shortestSpreadMs);
  return { rate, ceiling: rate };
}

function evenly({ quota, windowMs }: KnownLimit): StatedRate {
  if (quota === undefined || windowMs === undefined || windowMs > longestSpreadMs)
    return { ceiling: Number.POSITIVE_INFINITY };
  const rate = (quota * 1_000) / Math.max(windowMs / caution, windowMs + jitterMs);
  return { rate, ceiling: rate };
}

/** Names of limits come from the server. */
const maxLimits = 16;
const forgottenAfterMs = 120_000;
/** Ends of windows are told in whole seconds, and what tells them takes its time: such a difference is none. */
const roundingMs = 1_500;
/** An end that moves along with the calls is taken for one that does for so long (600 a sliding minute, X-RateLimit). */
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
  /** Whether this window has, or had, calls left for all rows that were left. */
  readonly isEnough: boolean;
  /** Until when the end counts as one that moves along with the calls, as that of a bucket or a sliding window does. */
  readonly rollingUntil: number;
  readonly seenAt: number;
}

/** Remembers what answers say of the limits, and tells the end of a window more exactly than each of them does. */
export class StatedLimits {
  readonly #limits = new Map<string, KnownLimit>();

  update(now: number, stated: readonly StatedLimit[], rows: number): void {
    for (const limit of stated) {
      if (limit.unit === 'requests' && (this.#limits.has(limit.name) || this.#limits.size < maxLimits))
        this.#limits.set(limit.name, known(now, limit, this.#limits.get(limit.name), rows));
    }
    for (const [name, { seenAt, resetAt = 0 }] of this.#limits)
      if (now > Math.max(seenAt + forgottenAfterMs, Math.min(resetAt, seenAt + dayMs)))
        this.#limits.delete(name);
  }

  values(): Iterable<KnownLimit> {
    return this.#limits.values();
  }
}

function known(now: number, limit: StatedLimit, before: KnownLimit | undefined, rows: number): KnownLimit {
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
    // How many rows are left is heard later than what remains: what was enough stays so.
    isEnough: rows <= (remaining ?? 0) || (!isNew && (before?.isEnough ?? false)),
    rollingUntil: rolls ? now + rollingMs : (before?.rollingUntil ?? 0),
    seenAt: now,
  };
}
