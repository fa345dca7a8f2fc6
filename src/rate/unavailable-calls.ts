/** A 503 by itself is an accident; several among few calls mean that calls are too many. */
const fewCalls = 10;
const severalCalls = 3;

/** Tells whether a 503 counts as a refusal, from the last answers of a process. */
export class UnavailableCalls {
  /** Whether none counts, unless it asks to wait: that they come at any rate is known, or is being found out. */
  tolerated = false;
  readonly #latest: boolean[] = [];

  /**
   * Takes in an answer; to be called for each.
   *
   * @returns whether it is a 503 that counts as a refusal
   */
  counts({ status, waitMs }: { readonly status: number; readonly waitMs?: number | undefined }): boolean {
    this.#latest.push(status === 503);
    if (this.#latest.length > fewCalls) this.#latest.shift();
    if (status !== 503 || (this.tolerated && waitMs === undefined)) return false;
    return this.#latest.filter(Boolean).length >= severalCalls;
  }
}
