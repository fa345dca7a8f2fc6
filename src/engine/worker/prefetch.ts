const rememberedBeats = 10;
/** By this factor, calls in flight may rise until the next beat. */
const riseUntilNextBeat = 1.25;
const spareRows = 3;
/** The share of spare rows: more than the intents that are written before a seat is free (`call-scheduler.ts`). */
const spareShare = 0.3;

/**
 * Rows to have in hand while rows wait at the gate: no more than the calls in flight need. The timeline knows the need of this worker by
 * the waiting rows, which leave at once when a rest ends.
 */
export class Prefetch {
  #busiest: number[] = [];

  /** @param busiest the most calls in flight since the last beat */
  update(busiest: number, most: number): number {
    this.#busiest = [...this.#busiest.slice(1 - rememberedBeats), busiest];
    return Math.min(most, Math.ceil(Math.max(...this.#busiest) * riseUntilNextBeat) + spareRows);
  }
}

/** The rows to have in hand for this number of calls. Some rows wait, so that a call can begin as soon as another ends. */
export function withSpare(concurrency: number): number {
  return concurrency + Math.max(2, Math.ceil(concurrency * spareShare));
}
