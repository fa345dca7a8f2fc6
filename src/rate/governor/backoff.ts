const firstMs = 60_000;
const longer = 4;
const longestMs = 3_600_000;

/** Leaves a conclusion alone that has proved wrong: for a minute, and four times as long each time, up to an hour. */
export class Backoff {
  #until = Number.NEGATIVE_INFINITY;
  #nextMs = firstMs;

  lasts(now: number): boolean {
    return now < this.#until;
  }

  begin(now: number): void {
    this.#until = now + this.#nextMs;
    this.#nextMs = Math.min(longer * this.#nextMs, longestMs);
  }
}
