const lookEveryMs = 2_000;
const gain = 0.3;
/** A datastore loses no more than that between two windows of the rate; whoever is farther off does not use the rate. */
const mostTrim = 1.03;
const nearEnough = 0.95;

/**
 * Makes up for what is lost between two windows of a rate, where each takes the datastore a moment to open: asks for a
 * little more than is wanted, until what is called is what is wanted.
 */
export class RateTrim {
  #factor = 1;
  #since: number;
  #sent = 0;
  #wanted = 0;

  constructor(now: number) {
    this.#since = now;
  }

  /**
   * @param sent calls since the last time
   * @param wanted calls per second
   * @param steady whether that is a rate to stay at: what is lost on the way to one tells nothing
   * @returns calls per second to ask for
   */
  apply(now: number, sent: number, wanted: number, steady: boolean): number {
    // What was sent until now belongs to the rate before.
    if (!steady || Math.abs(wanted / this.#wanted - 1) > 0.01) this.#begin(now, wanted);
    else this.#sent += sent;
    const seconds = (now - this.#since) / 1_000;
    if (seconds * 1_000 >= lookEveryMs) {
      const used = this.#sent / seconds / wanted;
      if (used > nearEnough)
        this.#factor = Math.min(Math.max(this.#factor * (1 + gain * (1 / used - 1)), 1), mostTrim);
      this.#begin(now, wanted);
    }
    return wanted * this.#factor;
  }

  #begin(now: number, wanted: number): void {
    this.#since = now;
    this.#sent = 0;
    this.#wanted = wanted;
  }
}
