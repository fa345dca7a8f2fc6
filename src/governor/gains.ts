/** From one refusal to the next: the allowance was used up at both ends, so what was accepted between is its gain. */
export interface Cycle {
  readonly accepted: number;
  /** Seconds in which calls were made, and seconds in which the API had asked to wait. */
  readonly activeSeconds: number;
  readonly waitedSeconds: number;
}

/** What an API's allowance gains. */
export interface Gain {
  /** Calls per second. */
  readonly perSecond: number;
  /** The rate that is certainly too much: the fewer calls were counted, the farther above. */
  readonly atMost: number;
}

/** Shorter cycles tell nothing. */
const fewestSeconds = 1;
const fewestCalls = 2;
/** So many cycles are compared. */
const comparedCycles = 5;
/** Calls by which a cycle may be counted wrongly, and by which share a gain is never known better. */
const uncertainCalls = 3;
const uncertainShare = 0.01;

/**
 * Tells from cycles what the API's allowance gains per second. An API that asks to wait fills its allowance meanwhile,
 * as far as that is not full at once; cycles of different lengths tell how much that was: it is the same in each.
 */
export class Gains {
  #cycles: Cycle[] = [];

  /** The limit has changed. */
  forget(): void {
    this.#cycles = [];
  }

  /** @returns undefined when the cycle was too short to tell. */
  add(cycle: Cycle): Gain | undefined {
    const { accepted, activeSeconds, waitedSeconds } = cycle;
    if (activeSeconds + waitedSeconds < fewestSeconds || activeSeconds <= 0 || accepted < fewestCalls)
      return undefined;
    this.#cycles = [...this.#cycles.slice(1 - comparedCycles), cycle];
    const least = accepted / (activeSeconds + waitedSeconds);
    const most = accepted / activeSeconds;
    const perSecond =
      waitedSeconds === 0 ? most : Math.min(Math.max(this.#slope() ?? (least + most) / 2, least), most);
    return { perSecond, atMost: perSecond * (1 + Math.max(uncertainShare, uncertainCalls / accepted)) };
  }

  /** By how many more calls are accepted in a cycle that is a second longer; undefined when all are as long. */
  #slope(): number | undefined {
    const seconds = mean(this.#cycles.map(({ activeSeconds }) => activeSeconds));
    const accepted = mean(this.#cycles.map((cycle) => cycle.accepted));
    const spread = sum(this.#cycles.map(({ activeSeconds }) => (activeSeconds - seconds) ** 2));
    if (spread < 0.05 * seconds ** 2) return undefined;
    return (
      sum(this.#cycles.map((cycle) => (cycle.activeSeconds - seconds) * (cycle.accepted - accepted))) / spread
    );
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}
