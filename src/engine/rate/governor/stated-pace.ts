import type { StatedLimit } from '../../api/limits.ts';
import { Backoff } from './probe-backoff.ts';
import { commonPeriod, longestSpreadMs } from './quota-exhaustion.ts';
import type { Traffic } from './traffic.ts';

/** The used share of the stated rate, as clocks and travel times differ; less after refusals (50/s, 52/s stated). */
const caution = 0.986;
const lowered = 0.99;
const lowest = 0.95;
const forgivenMs = 300_000;
/** Calls leave this early or late: this must not put one too many into a short window. */
const jitterMs = 25;
/** The rest of a window that is not spread lasts at least this long, so that the window ends without a refusal. */
const usedUpInMs = 1_000;
/** What is enough for all rows is called faster, and its last few calls are not called slower and slower. */
const finishedInMs = 300;
const fewLast = 3;
/** Rows are counted as finished later than their calls, by up to this share of what remains, or these few. */
const countedLate = 0.05;
const fewCountedLate = 2;
/** A window is used up this long before its end: a call lost in each window costs a window more at the end (400 rows, 100 in 15 s). */
const spareMs = 1_000;
/** Calls that remain then take at least this long: the answers must show when none remains. */
const shortestSpreadMs = 500;
/** After this many rejections within this time, the API does not state all of its limits (50/s, 100/s stated). */
const contradictions = 4;
const contradictionsWithinMs = 10_000;

export interface StatedRate {
  /** Calls/s. */
  readonly rate?: number | undefined;
  /** Calls/s that must never be exceeded. */
  readonly ceiling: number;
  readonly restUntil?: number | undefined;
  /** What states a rest longer than a minute: see `AskedWait`. */
  readonly restBy?: string | undefined;
  /** A window is not spread because it has enough calls for all remaining rows. */
  readonly isEnough?: boolean | undefined;
}

/**
 * Derives a rate from what the API states:
 *
 * - quota and a short window are spread evenly;
 * - in a longer window, what remains is spread over the rest, unless it is enough for all rows;
 * - the quota of a window of hours may be used at once, except for its last calls;
 * - anything less is not enough: the rate is searched for, and `statedRemaining` warns before calls are refused.
 */
export class StatedPace {
  readonly #limits = new StatedLimits();
  #rejections: number[] = [];
  #share = 1;
  #updatedAt: number | undefined;
  readonly #backoff = new Backoff();

  /**
   * @param unexpected whether calls within the stated limit were rejected
   * @param rows that no call has left for yet; default: unknown
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

  testBy(at: number): void {
    this.#limits.testBy(at);
  }

  /** @param active calls in flight, which what remains may not count yet */
  allowed(now: number, active: number): StatedRate {
    let allowed: StatedRate = { ceiling: Number.POSITIVE_INFINITY };
    if (this.#backoff.lasts(now)) return allowed;
    for (const limit of this.#limits.values()) allowed = both(allowed, allowedBy(limit, now, active));
    if (allowed.rate === undefined) return allowed;
    return { ...allowed, rate: allowed.rate * this.#share };
  }
}

/** The fewest calls permitted until a stated time. */
export function statedRemaining({ stated }: Traffic): number | undefined {
  const remaining = stated.flatMap((limit) =>
    // Without a time, the statement may be about calls in flight.
    limit.unit === 'requests' && limit.resetMs !== undefined && limit.remaining !== undefined
      ? [limit.remaining]
      : [],
  );
  return remaining.length === 0 ? undefined : Math.min(...remaining);
}

function both(one: StatedRate, other: StatedRate): StatedRate {
  const rate = Math.min(one.rate ?? Number.POSITIVE_INFINITY, other.rate ?? Number.POSITIVE_INFINITY);
  const rest = (one.restUntil ?? 0) >= (other.restUntil ?? 0) ? one : other;
  return {
    rate: Number.isFinite(rate) ? rate : undefined,
    ceiling: Math.min(one.ceiling, other.ceiling),
    restUntil: rest.restUntil,
    restBy: rest.restBy,
    isEnough: one.isEnough || other.isEnough,
  };
}

function allowedBy(limit: KnownLimit, now: number, active: number): StatedRate {
  const { remaining, resetAt = 0, resetBy, isLong, isEnough, rollingUntil } = limit;
  const leftMs = resetAt - now;
  if (remaining === undefined || !isLong || leftMs <= 0 || now < rollingUntil) return evenly(limit);
  if (remaining === 0) return { ceiling: 1, restUntil: resetAt, restBy: resetBy };
  const free = Math.max(remaining - active, 0.5);
  const last = free < 1 ? free : Math.max(free, fewLast);
  if (isEnough) return { ceiling: (last * 1_000) / finishedInMs, isEnough };
  if (leftMs > longestSpreadMs) return { ceiling: (free * 1_000) / usedUpInMs };
  const spreadMs = free < 1 ? leftMs : Math.max(leftMs - spareMs, shortestSpreadMs);
  const rate = (free * 1_000) / spreadMs;
  return { rate, ceiling: rate };
}

function evenly({ quota, windowMs }: KnownLimit): StatedRate {
  if (quota === undefined || windowMs === undefined || windowMs > longestSpreadMs)
    return { ceiling: Number.POSITIVE_INFINITY };
  const rate = (quota * 1_000) / Math.max(windowMs / caution, windowMs + jitterMs);
  return { rate, ceiling: rate };
}

/** The server chooses the names of limits: this bounds memory. */
const maxLimits = 16;
const forgottenAfterMs = 120_000;
/** Ends are stated in whole seconds, and answers take time to arrive. */
const roundingMs = 1_500;
/** An end that moved along with the calls counts as moving for this long (600 a sliding minute, X-RateLimit). */
const rollingMs = 60_000;
/** Times of day are stated up to this much late (X-RateLimit-Reset). */
const secondMs = 1_000;
/** As many calls of a new window have been made when its first statement arrives, at most. */
const firstCalls = 3;
/** The end of a shorter window is stated too coarsely to plan with. */
const shortWindowMs = 5_000;
const dayMs = 86_400_000;

export interface KnownLimit {
  readonly quota: number | undefined;
  readonly windowMs: number | undefined;
  readonly remaining: number | undefined;
  /** The earliest time that fits all statements about this window, and the earliest one stated. */
  readonly resetAt: number | undefined;
  readonly statedEnd: number | undefined;
  readonly resetBy: string | undefined;
  /** When first seen, its end was far enough away to plan with. */
  readonly isLong: boolean;
  /** It has, or had, calls for all rows that were left. */
  readonly isEnough: boolean;
  /** Until when its end counts as moving along with the calls, as in a bucket or a sliding window. */
  readonly rollingUntil: number;
  readonly seenAt: number;
}

/** Knows the end of a window more exactly than any single statement. */
export class StatedLimits {
  readonly #limits = new Map<string, KnownLimit>();

  update(now: number, stated: readonly StatedLimit[], rows: number): void {
    for (const limit of stated) {
      if (limit.unit === 'requests' && (this.#limits.has(limit.name) || this.#limits.size < maxLimits))
        this.#limits.set(limit.name, updatedLimit(now, limit, this.#limits.get(limit.name), rows));
    }
    for (const [name, { seenAt, resetAt = 0 }] of this.#limits)
      if (now > Math.max(seenAt + forgottenAfterMs, Math.min(resetAt, seenAt + dayMs)))
        this.#limits.delete(name);
  }

  testBy(at: number): void {
    for (const [name, limit] of this.#limits)
      if (limit.resetAt !== undefined && limit.resetAt > at)
        this.#limits.set(name, { ...limit, resetAt: at, statedEnd: at });
  }

  values(): Iterable<KnownLimit> {
    return this.#limits.values();
  }
}

/** For a few rows too many, the next window is waited for in any case. */
function isEnoughFor(rows: number, remaining = 0): boolean {
  return rows <= remaining + Math.max(fewCountedLate, countedLate * remaining);
}

/**
 * Many windows begin with the first call after the last one. Where that call was made here, a usual length tells the end more exactly than
 * whole seconds, which would cost up to a second of each window.
 */
function endOfNew(now: number, stated: number, { quota, remaining = 0 }: StatedLimit): number {
  if (quota === undefined || remaining < quota - firstCalls) return stated;
  const leftMs = stated - now;
  return now + (commonPeriod(leftMs - secondMs, leftMs) ?? leftMs);
}

/** An end becomes known only with `isNew`. */
function earlier(stated: number | undefined, end: number | undefined): number | undefined {
  return stated === undefined || end === undefined ? end : Math.min(stated, end);
}

function updatedLimit(
  now: number,
  limit: StatedLimit,
  last: KnownLimit | undefined,
  rows: number,
): KnownLimit {
  const { quota, windowMs, remaining, resetMs, resetBy } = limit;
  const stated = resetMs === undefined ? undefined : now + Math.min(resetMs, dayMs);
  const end = last?.statedEnd;
  const moved = stated !== undefined && end !== undefined && stated > end + roundingMs;
  // The end of a window does not move during the window.
  const rolls = moved && now < (last?.resetAt ?? end) - roundingMs;
  const isNew = moved || (stated !== undefined && end === undefined);
  const newEnd = stated === undefined || rolls ? stated : endOfNew(now, stated, limit);
  return {
    quota,
    windowMs,
    remaining: remaining === undefined ? undefined : Math.min(remaining, quota ?? remaining),
    resetAt: isNew ? newEnd : earlier(stated, last?.resetAt),
    statedEnd: isNew ? stated : earlier(stated, end),
    resetBy: isNew ? resetBy : last?.resetBy,
    isLong: isNew ? (resetMs ?? 0) > shortWindowMs : (last?.isLong ?? false),
    // What was enough stays enough.
    isEnough: isEnoughFor(rows, remaining) || (!isNew && (last?.isEnough ?? false)),
    rollingUntil: rolls ? now + rollingMs : (last?.rollingUntil ?? 0),
    seenAt: now,
  };
}
