const commonPeriods = [
  5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400,
].map((seconds) => seconds * 1_000);
const minuteMs = 60_000;
/** A shorter time without an accepted call is a moment of refusals, not the rest of a window. */
const shortestMs = 3_000;
/** By this much the clocks of both sides may differ (fixed-window:limit=600,window=1m). */
const clockSkewMs = 200;
/** By this much a stated end may be early, because `Retry-After` is in whole seconds. */
const roundedMs = 1_000;

export interface QuotaRecovery {
  readonly lastedMs: number;
  /** The rate at which calls are accepted in the long run, calls per second, if known. */
  readonly perSecond?: number;
}

/** The allowance of a longer window is used up. Rare single calls test when this ends. Two ends tell the window's length and quota. */
export class QuotaExhaustion {
  #exhaustedSince = 0;
  /** When a test last showed that nothing is accepted yet. */
  #testedAt = 0;
  #lastEnd: { readonly earliest: number; readonly at: number; readonly accepted: number };
  #ends = 0;
  #periodMs: number | undefined;
  /** The first time without accepted calls: the window may be as long. */
  #spanMs: number | undefined;
  #onTheMinute = false;
  /** When the present window began, and the calls accepted by then. */
  #window = { at: 0, accepted: 0 };
  #quota = 0;

  constructor(now: number) {
    this.#lastEnd = { earliest: now, at: now, accepted: 0 };
  }

  /** The length of the window. Undefined while unknown, or too long to spread its quota. */
  get periodMs(): number | undefined {
    const periodMs = this.#periodMs ?? this.#spanMs ?? Number.POSITIVE_INFINITY;
    return periodMs <= longestSpreadMs ? periodMs : undefined;
  }

  forget(): void {
    this.#periodMs = undefined;
    this.#spanMs = undefined;
    this.#ends = 0;
  }

  begin(now: number): void {
    this.#exhaustedSince = now;
    this.#testedAt = now;
  }

  /** The API says that nothing is accepted before: only the rounding of its seconds is unknown. */
  statedEnd(until: number): void {
    this.#testedAt = Math.max(this.#testedAt, until - roundedMs);
  }

  /** @param sentAt when the refused call was sent, at the earliest */
  nextTest(now: number, sentAt: number): number {
    this.#testedAt = Math.max(this.#testedAt, sentAt);
    const expected = this.#lastEnd.at + (this.#periodMs ?? 0);
    if (expected > now + clockSkewMs) return expected;
    const pause = testPause(now - this.#exhaustedSince);
    // Many windows begin with the minute.
    const minute = Math.ceil((Math.max(this.#testedAt, now - minuteMs) + 1) / minuteMs) * minuteMs;
    this.#onTheMinute = pause > 2_000 && minute < now + pause;
    return this.#onTheMinute ? Math.max(minute, now) + clockSkewMs : now + pause;
  }

  /** @param accepted so far in all */
  end(now: number, accepted: number): QuotaRecovery {
    const lastedMs = now - this.#exhaustedSince;
    const lastEnd = this.#lastEnd;
    const spanMs = now - lastEnd.at;
    if (lastedMs < shortestMs) return { lastedMs };
    this.#lastEnd = { earliest: this.#testedAt, at: now, accepted };
    this.#ends += 1;
    const span = [this.#lastEnd.earliest - lastEnd.at, now - lastEnd.earliest] as const;
    // Windows that were not used up, or only in their last moments, had no end here.
    const windows = wholePeriods(this.#periodMs, ...span);
    const isMinute = this.#onTheMinute && spanMs < 1.5 * minuteMs;
    const periodMs = windows?.periodMs ?? (isMinute ? minuteMs : (commonPeriod(...span) ?? spanMs));
    if (this.#ends > 1 || isMinute) this.#periodMs = periodMs;
    else this.#spanMs = periodMs;
    if (periodMs > longestSpreadMs) return { lastedMs };
    this.#quota = (accepted - lastEnd.accepted) / (windows?.count ?? 1);
    this.#window = { at: now, accepted };
    return { lastedMs, perSecond: (this.#quota * 1_000) / periodMs };
  }

  /** How many calls the present window still accepts; 0 when nothing is known. */
  remainingCalls(now: number, accepted: number): number {
    const { periodMs } = this;
    if (periodMs === undefined) return 0;
    while (now >= this.#window.at + periodMs) this.#window = { at: this.#window.at + periodMs, accepted };
    return this.#quota - (accepted - this.#window.accepted);
  }
}

export function commonPeriod(shortestMs: number, longestMs: number): number | undefined {
  return commonPeriods.find((period) => period >= shortestMs && period <= longestMs);
}

/** Undefined when whole windows do not fit. */
function wholePeriods(periodMs: number | undefined, shortestMs: number, longestMs: number) {
  if (periodMs === undefined) return undefined;
  const count = Math.floor(longestMs / periodMs);
  return count > 0 && count * periodMs >= shortestMs ? { periodMs, count } : undefined;
}

const shortestPauseMs = 1_000;
const longestPauseInFirstMinuteMs = 10_000;
const longestPauseMs = 300_000;

/** @param elapsedMs time without an accepted call */
export function testPause(elapsedMs: number): number {
  if (elapsedMs < minuteMs)
    return Math.min(Math.max(elapsedMs, shortestPauseMs), longestPauseInFirstMinuteMs);
  return Math.min(elapsedMs / 6, longestPauseMs);
}

/** The quota of a longer window is not spread over it: users do not wait for hours for a few calls. */
export const longestSpreadMs = 600_000;

/** An API that asks to wait longer, or accepts nothing for longer, has used up the quota of a longer window. */
export const longWaitMs = 3_000;
