/** So that a limit that rises is noticed within seconds. */
const usualMs = 14_000;
/** One refusal among so many calls is little enough. */
const callsPerProbe = 150;
/** Nobody knows whether what was learned in an earlier run still holds. */
const learnedMs = 3_000;
/** A probe that fails costs the time that the API then asks to wait: that may be such a part of the whole. */
const waitedShare = 20;
const rarestMs = 600_000;

/** When to look whether the limit has risen: often enough to notice it soon, seldom enough to cost little. */
export class ProbeSchedule {
  #afterMs: number;

  constructor(learned: boolean) {
    this.#afterMs = learned ? learnedMs : usualMs;
  }

  /** @param heldMs for how long the rate has been held by now. */
  isDue(heldMs: number, rate: number): boolean {
    return heldMs >= Math.max(this.#afterMs, (callsPerProbe * 1_000) / rate);
  }

  /** A probe was refused, and the API asked to wait for so long; 0: it did not. */
  failed(waitMs: number): void {
    this.#afterMs = Math.min(Math.max(usualMs, waitedShare * waitMs), rarestMs);
  }

  /** An allowance for a longer window was used up, and nothing was accepted for so long. */
  dry(lastedMs: number): void {
    this.#afterMs = Math.min(Math.max(this.#afterMs * 2, 3 * lastedMs), rarestMs);
  }

  reset(): void {
    this.#afterMs = usualMs;
  }
}
