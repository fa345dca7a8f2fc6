/** After such a time one call more is tried than the API is known to accept at once; sooner, and more, where that goes well. */
const afterMs = 15_000;
const againMs = 2_000;
const most = 0.25;

/** When to try more calls in flight, and how many. */
export class CrowdClimb {
  #at: number;
  #more = 1;

  /** What is known is uncertain at first. */
  constructor(now: number) {
    this.#at = now + againMs;
  }

  /**
   * @param value calls that the API is known to accept at once
   * @param limit calls that may be in flight
   * @returns how many may be from now on; undefined when nothing is to be changed. What was allowed until now went well.
   */
  next(now: number, value: number, limit: number): number | undefined {
    if (now < this.#at) return undefined;
    if (limit > value) this.#more = Math.min(2 * this.#more, Math.max(1, Math.floor(value * most)));
    this.#at = now + againMs;
    return Math.max(value, limit) + this.#more;
  }

  /** More were too many: fewer more may be right. */
  refused(now: number): void {
    this.#at = now + (this.#more > 1 ? againMs : afterMs);
    this.#more = Math.max(1, Math.floor(this.#more / 2));
  }
}
