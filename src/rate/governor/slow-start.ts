import { firstRate, inUse } from './pace.ts';

const doublingMs = 500;
/** After a rest of so long calls begin with a part of the rate; shorter ones cost too much already. */
const longRestMs = 3_000;
const afterRest = 0.25;

/** Lets the rate rise quickly but never at once: at the beginning, after a rest, and when the API promises much. */
export class SlowStart {
  #ceiling: number;
  #updatedAt: number;
  #restedMs = 0;
  #rate: number;

  /** @param learned the rate that was fine in an earlier run. */
  constructor(now: number, learned = 0) {
    this.#ceiling = Math.max(firstRate, afterRest * learned);
    this.#rate = this.#ceiling;
    this.#updatedAt = now;
  }

  /**
   * @param wanted calls per second
   * @param used calls per second that are used of the rate: only what is used rises
   * @returns calls per second that may be made
   */
  limit(now: number, wanted: number, used: number, resting: boolean): number {
    const passed = now - this.#updatedAt;
    this.#updatedAt = now;
    if (resting) {
      this.#restedMs += passed;
      return Math.min(wanted, this.#ceiling);
    }
    if (this.#restedMs >= longRestMs)
      this.#ceiling = Math.min(this.#ceiling, Math.max(1, afterRest * this.#rate));
    this.#restedMs = 0;
    if (wanted > this.#ceiling && used >= inUse * this.#ceiling) this.#ceiling *= 2 ** (passed / doublingMs);
    this.#rate = Math.min(wanted, this.#ceiling);
    return this.#rate;
  }
}
