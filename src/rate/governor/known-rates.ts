/** A refusal, with what is known of the calls before it. */
export interface RefusedRate {
  /** Calls that were sent per second when it happened. */
  readonly sending: number;
  /** What the API had accepted since the refusal before. */
  readonly cycle: Cycle | undefined;
  /** Whether the API asks to wait. */
  readonly isCostly: boolean;
}

/** From one refusal to the next: the allowance was used up at both ends, so what was accepted between is its gain. */
export interface Cycle {
  readonly accepted: number;
  /** Seconds in which calls were made, and seconds in which the API had asked to wait. */
  readonly activeSeconds: number;
  readonly waitedSeconds: number;
}

/** What an API's allowance gains. */
export interface Gain {
  /** Calls per second, at least. */
  readonly perSecond: number;
  /** The rate that is certainly too much: the less is known, the farther above. */
  readonly atMost: number;
}

/** Shorter cycles tell nothing. */
const fewestSeconds = 1;
const fewestCalls = 2;
/** Calls by which a cycle may be counted wrongly, and by which share a gain is never known better. */
const uncertainCalls = 3;
const uncertainShare = 0.01;

/**
 * What the allowance gains per second. An API that asks to wait fills it meanwhile, nobody knows how far: all of that time
 * may have counted, or none.
 *
 * @returns undefined when the cycle tells nothing.
 */
export function gainOf({ accepted, activeSeconds, waitedSeconds }: Cycle): Gain | undefined {
  if (activeSeconds < fewestSeconds || accepted < fewestCalls) return undefined;
  return {
    perSecond: accepted / (activeSeconds + waitedSeconds),
    atMost: (accepted / activeSeconds) * (1 + Math.max(uncertainShare, uncertainCalls / accepted)),
  };
}

/** Between what is held and what failed there is at least such a gap, as a factor. */
const gap = 1.01;
const learnedGap = 1.02;
/** By how much a failed probe lets the rate come nearer to it: more where it was far above what had failed before. */
const afterProbe = 1.03;
const afterFarProbe = 1.1;
const ofFarProbe = 0.7;
/** The rate at which a search failed is above the limit by no more than that (a tenfold rise with Retry-After). */
const afterSearch = 0.84;
/**
 * A rate that failed after it was held for so long can't be far from fine; one that failed at once may be (a drop to a fifth,
 * and token buckets, with Retry-After).
 */
const heldLongMs = 3_000;
const afterLong = 0.96;
const afterShort = 0.85;
/** The rate that failed is approached so near, in such a time (of an exponential). */
const near = 0.985;
const approachSeconds = 5;
/** Slowly where a refusal costs a wait (token buckets with Retry-After). */
const carefulApproachSeconds = 20;
/** What is held comes up to a rate that proves fine in such a time. */
const provenSeconds = 4;

/**
 * What is known of the limit, in calls per second: a rate that it is not below, and a rate that was too much. Both come
 * from refusals. Where what they tell is wrong, the next one tells soon.
 */
export class KnownRates {
  #held: number | undefined;
  #failed: number | undefined;
  #isCostly = false;

  get held(): number | undefined {
    return this.#held;
  }

  get failed(): number | undefined {
    return this.#failed;
  }

  /** Somebody has said what the limit is, or it was measured over a whole window. */
  learn(rate: number): void {
    this.#held = rate;
    this.#failed = rate * learnedGap;
  }

  /** What was held is not. */
  forget(): void {
    this.#held = undefined;
  }

  /** All that is known is that this rate is too much. */
  begin(failed: number): void {
    this.#held = undefined;
    this.#failed = failed;
  }

  /**
   * A probe was refused. It had used up what gathered while less was used: the rate at its end is far above the limit.
   *
   * @returns the rate that is held from now on
   */
  probeFailed(refusal: RefusedRate): number {
    const failed = this.#failed ?? 0;
    const far = Math.max(ofFarProbe * refusal.sending, failed * afterProbe);
    return this.#conclude(refusal, this.#held ?? 0, Math.min(far, failed * afterFarProbe));
  }

  /** @returns the rate that is held from now on */
  searchFailed(refusal: RefusedRate): number {
    const { sending } = refusal;
    return this.#conclude(refusal, Math.max(this.#held ?? 0, sending * afterSearch), sending);
  }

  /** @returns the rate that is held from now on */
  holdFailed(refusal: RefusedRate, heldMs: number): number {
    const fine = (this.#held ?? 0) * (heldMs < heldLongMs ? afterShort : afterLong);
    const gain = refusal.cycle && gainOf(refusal.cycle);
    return this.#conclude(refusal, fine, gain?.atMost ?? refusal.sending);
  }

  /** The rate to hold next, which proves the present one fine and approaches the one that failed. */
  approach(rate: number, seconds: number): number {
    const held = this.#held ?? rate;
    if (rate > held) this.#held = approached(held, rate, seconds, provenSeconds);
    const goal = Math.max(held, (this.#failed ?? 0) * near);
    const inSeconds = this.#isCostly ? carefulApproachSeconds : approachSeconds;
    return approached(Math.max(rate, held), goal, seconds, inSeconds);
  }

  /** Neither is more than what was sent. */
  #conclude({ sending, cycle, isCostly }: RefusedRate, fine: number, failed: number): number {
    const gain = cycle && gainOf(cycle);
    const held = Math.min(Math.max(fine, gain?.perSecond ?? 0), sending);
    this.#isCostly = isCostly;
    this.#held = held;
    this.#failed = Math.max(Math.min(sending, failed), held * gap);
    return held;
  }
}

/** What comes nearer to a goal, by a factor e in so many seconds, after some. */
function approached(value: number, goal: number, seconds: number, inSeconds: number): number {
  return value + (goal - value) * Math.min(1, seconds / inSeconds);
}
