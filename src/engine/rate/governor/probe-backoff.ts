const firstProbeMs = 14_000;
/** The least number of calls between two probes, because each may cost a refusal. */
const callsPerProbe = 150;
/** The longest time for these calls: a moment of refusals must not slow a very slow run for a day. */
const callsWithinMs = 1_800_000;
/** The time to the first probe of a rate that an earlier run has learned, which may be outdated. */
const firstAfterLearnedMs = 3_000;
/** A failed probe costs an asked wait: the pause before the next probe is this many times as long, and grows with each. */
const waits = 24;
const mostWaits = 50;
const longer = 1.25;
const rarestMs = 600_000;

/** When to check whether the limit has risen: often enough to notice soon, rarely enough to cost little. */
export class ProbeSchedule {
  #afterMs = firstProbeMs;
  #isUnproven: boolean;

  constructor(isLearned: boolean) {
    this.#isUnproven = isLearned;
  }

  isDue(sustainedMs: number, rate: number): boolean {
    if (this.#isUnproven) return sustainedMs >= firstAfterLearnedMs;
    return sustainedMs >= Math.max(this.#afterMs, Math.min((callsPerProbe * 1_000) / rate, callsWithinMs));
  }

  noteRefusal(): void {
    this.#isUnproven = false;
  }

  /** @param waitMs 0: the API asked for no wait */
  noteFailedProbe(waitMs: number): void {
    if (waitMs === 0) return;
    const longest = Math.min(Math.max(firstProbeMs, mostWaits * waitMs), rarestMs);
    this.#afterMs = Math.min(Math.max(waits * waitMs, this.#afterMs * longer), longest);
  }

  /** Notes that the allowance of a longer window was used up. */
  noteUsedWindow(lastedMs: number): void {
    this.#afterMs = Math.min(Math.max(this.#afterMs * 2, 3 * lastedMs), rarestMs);
  }

  noteRisenLimit(): void {
    this.#afterMs = firstProbeMs;
    this.#isUnproven = false;
  }
}

const firstBackoffMs = 60_000;
const timesLonger = 4;
const longestBackoffMs = 3_600_000;

/** After a wrong conclusion, it is not drawn again for 1 minute, then for 4, up to 1 hour. */
export class Backoff {
  #lastsUntil = Number.NEGATIVE_INFINITY;
  #nextMs = firstBackoffMs;

  lasts(now: number): boolean {
    return now < this.#lastsUntil;
  }

  begin(now: number): void {
    this.#lastsUntil = now + this.#nextMs;
    this.#nextMs = Math.min(timesLonger * this.#nextMs, longestBackoffMs);
  }
}
