/** The usual time between two probes: a limit that rises is noticed within seconds. */
const usualMs = 14_000;
/** At least this many calls are made between two probes, of which each may cost a refusal. */
const callsPerProbe = 150;
/** The longest time for those calls: a moment of refusals must not slow down a very slow run for a day. */
const callsWithinMs = 1_800_000;
/** The first probe of a rate that an earlier run has learned comes soon: it may be outdated. */
const firstAfterLearnedMs = 3_000;
/**
 * A failed probe costs the wait that the API then asks for: the pause before the next one is this many times as long, and grows
 * with every failed probe.
 */
const waits = 24;
const mostWaits = 50;
const longer = 1.25;
const rarestMs = 600_000;

/** When to check whether the limit has risen: often enough to notice soon, rarely enough to cost little. */
export class ProbeSchedule {
  #afterMs = usualMs;
  #isUnproven: boolean;

  /** @param isLearned whether the held rate was learned in an earlier run */
  constructor(isLearned: boolean) {
    this.#isUnproven = isLearned;
  }

  /** @param heldMs how long the rate has been held by now */
  isDue(heldMs: number, rate: number): boolean {
    if (this.#isUnproven) return heldMs >= firstAfterLearnedMs;
    return heldMs >= Math.max(this.#afterMs, Math.min((callsPerProbe * 1_000) / rate, callsWithinMs));
  }

  /** Calls were refused: this confirms the held rate. */
  refused(): void {
    this.#isUnproven = false;
  }

  /** A probe was refused, and the API asked to wait for this long; 0 when it did not. */
  failed(waitMs: number): void {
    if (waitMs === 0) return;
    const longest = Math.min(Math.max(usualMs, mostWaits * waitMs), rarestMs);
    this.#afterMs = Math.min(Math.max(waits * waitMs, this.#afterMs * longer), longest);
  }

  /** The allowance of a longer window was used up, and nothing was accepted for this long. */
  dry(lastedMs: number): void {
    this.#afterMs = Math.min(Math.max(this.#afterMs * 2, 3 * lastedMs), rarestMs);
  }

  /** The limit has risen: starts again. */
  risen(): void {
    this.#afterMs = usualMs;
    this.#isUnproven = false;
  }
}

const firstBackoffMs = 60_000;
const timesLonger = 4;
const longestBackoffMs = 3_600_000;

/** Blocks a conclusion that has proved wrong: for a minute, and four times as long each time, up to an hour. */
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
