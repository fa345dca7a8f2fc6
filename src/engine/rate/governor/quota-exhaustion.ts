const commonPeriods = [
  5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400,
].map((seconds) => seconds * 1_000);
const minuteMs = 60_000;
const tenSecondsMs = 10_000;
/** A shorter time without an accepted call is a moment of refusals, not the rest of a window. */
const shortestMs = 3_000;
/** By this much the clocks of both sides may differ (fixed-window:limit=600,window=1m). */
const clockSkewMs = 200;
/** By this much a stated end may be early, because `Retry-After` is in whole seconds. */
const roundedMs = 1_000;

/** Milliseconds: the shortest and the longest time between two ends. */
type Span = readonly [shortestMs: number, longestMs: number];

interface Windows {
  readonly periodMs: number;
  readonly count: number;
}

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
  /** The window ended between these two times: later ends tell more exactly. */
  #lastEnd: { readonly earliest: number; readonly at: number; readonly accepted: number };
  #ends = 0;
  #periodMs: number | undefined;
  /** The first time without accepted calls: the window may be as long. */
  #spanMs: number | undefined;
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
    const { earliest, at } = this.#lastEnd;
    const periodMs = this.#periodMs ?? 0;
    if (earliest + periodMs > now + clockSkewMs) return earliest + periodMs;
    if (at + periodMs > now + clockSkewMs) {
      const pause = testPause(now - Math.max(this.#exhaustedSince, earliest + periodMs));
      return Math.min(now + pause, at + periodMs);
    }
    const elapsedMs = now - this.#exhaustedSince;
    const pause = testPause(elapsedMs);
    // Many windows begin with the minute, or with a multiple of ten seconds.
    const begins = elapsedMs < minuteMs ? tenSecondsMs : minuteMs;
    const begin = Math.ceil((Math.max(this.#testedAt, now - begins) + 1) / begins) * begins;
    return pause > 2_000 && begin < now + pause ? Math.max(begin, now) + clockSkewMs : now + pause;
  }

  /** @param accepted so far in all */
  end(now: number, accepted: number): QuotaRecovery {
    const lastedMs = now - this.#exhaustedSince;
    if (lastedMs < shortestMs) return { lastedMs };
    const last = this.#lastEnd;
    const calls = accepted - last.accepted;
    const span = [this.#testedAt - last.at, now - last.earliest] as const;
    const { periodMs, count } = this.#windowsBetween(now - last.at, span, calls);
    const [earliest, at] =
      this.#ends === 0 ? [0, now] : [last.earliest + count * periodMs, last.at + count * periodMs];
    this.#lastEnd = { earliest: Math.max(this.#testedAt, earliest), at: Math.min(now, at), accepted };
    if (this.#ends > 0) this.#periodMs = periodMs;
    else this.#spanMs = periodMs;
    this.#ends += 1;
    this.#quota = calls / count;
    if (periodMs > longestSpreadMs) return { lastedMs };
    this.#window = { at: now, accepted };
    return { lastedMs, perSecond: (this.#quota * 1_000) / periodMs };
  }

  /**
   * Windows of the known length, not each of which was used up. Otherwise windows of the longest usual length of which there are enough for
   * the calls, if each accepts as many as the first one.
   */
  #windowsBetween(spanMs: number, span: Span, calls: number): Windows {
    if (this.#ends === 0) return { periodMs: commonPeriod(...span) ?? spanMs, count: 1 };
    const known = this.#periodMs ?? 0;
    if (known >= this.#testedAt - this.#exhaustedSince && wholeWindows(known, span) > 0)
      return { periodMs: known, count: wholeWindows(known, span) };
    const fewest = Math.max(1, Math.round(calls / Math.max(1, this.#quota)));
    const periodMs = commonPeriods.findLast((period) => wholeWindows(period, span) >= fewest);
    return periodMs === undefined
      ? { periodMs: spanMs / fewest, count: fewest }
      : { periodMs, count: wholeWindows(periodMs, span) };
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
  return commonPeriods.findLast((period) => period >= shortestMs && period <= longestMs);
}

/** How many whole windows fit between two ends; 0 when none do. */
function wholeWindows(periodMs: number, [shortestMs, longestMs]: Span): number {
  const count = Math.floor(longestMs / periodMs);
  return count * periodMs >= shortestMs ? count : 0;
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
