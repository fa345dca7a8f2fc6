/** So that a limit that rises is noticed within seconds. */
const usualMs = 14_000;
/** One refusal among so many calls is little enough. */
const callsPerProbe = 150;
/** Very slow rates are tested more often than that: nobody wants to crawl for a day because of a moment. */
const callsWithinMs = 1_800_000;
/** Nobody knows whether what was learned in an earlier run still holds. */
const firstAfterLearnedMs = 3_000;
/**
 * A probe that fails costs the time that the API then asks to wait: a pause is so many times as long, and longer with
 * every probe that fails.
 */
const waits = 24;
const mostWaits = 50;
const longer = 1.25;
const rarestMs = 600_000;

/** When to look whether the limit has risen: often enough to notice it soon, seldom enough to cost little. */
export class ProbeSchedule {
  #afterMs = usualMs;
  #isUnproven: boolean;

  /** @param isLearned whether what is held was learned in an earlier run. */
  constructor(isLearned: boolean) {
    this.#isUnproven = isLearned;
  }

  /** @param heldMs for how long the rate has been held by now. */
  isDue(heldMs: number, rate: number): boolean {
    if (this.#isUnproven) return heldMs >= firstAfterLearnedMs;
    return heldMs >= Math.max(this.#afterMs, Math.min((callsPerProbe * 1_000) / rate, callsWithinMs));
  }

  /** Calls were refused, so that what is held is known by now. */
  refused(): void {
    this.#isUnproven = false;
  }

  /** A probe was refused, and the API asked to wait for so long; 0: it did not. */
  failed(waitMs: number): void {
    if (waitMs === 0) return;
    const longest = Math.min(Math.max(usualMs, mostWaits * waitMs), rarestMs);
    this.#afterMs = Math.min(Math.max(waits * waitMs, this.#afterMs * longer), longest);
  }

  /** An allowance for a longer window was used up, and nothing was accepted for so long. */
  dry(lastedMs: number): void {
    this.#afterMs = Math.min(Math.max(this.#afterMs * 2, 3 * lastedMs), rarestMs);
  }

  /** The limit has risen: all begins anew. */
  risen(): void {
    this.#afterMs = usualMs;
    this.#isUnproven = false;
  }
}

const firstBackoffMs = 60_000;
const timesLonger = 4;
const longestBackoffMs = 3_600_000;

/** Leaves a conclusion alone that has proved wrong: for a minute, and four times as long each time, up to an hour. */
export class Backoff {
  #until = Number.NEGATIVE_INFINITY;
  #nextMs = firstBackoffMs;

  lasts(now: number): boolean {
    return now < this.#until;
  }

  begin(now: number): void {
    this.#until = now + this.#nextMs;
    this.#nextMs = Math.min(timesLonger * this.#nextMs, longestBackoffMs);
  }
}
