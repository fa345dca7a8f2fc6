export interface RefusedRate {
  /** Per second, at that time. */
  readonly sending: number;
  readonly cycle: Cycle | undefined;
  /** The API asked to wait. */
  readonly isCostly: boolean;
}

/** From one refusal to the next. The allowance was used up at both ends, so the calls accepted between are what it gained. */
export interface Cycle {
  readonly accepted: number;
  /** With calls, and in an asked wait. */
  readonly activeSeconds: number;
  readonly waitedSeconds: number;
}

export interface Gain {
  /** Calls/s, at least. */
  readonly perSecond: number;
  /** Certainly too high: the less is known, the farther above. */
  readonly atMost: number;
}

const fewestSeconds = 1;
const fewestCalls = 2;
/** The calls by which a cycle may be miscounted, and the share by which a gain is always uncertain. */
const uncertainCalls = 3;
const uncertainShare = 0.01;

/**
 * The gain of the allowance. While the API asks to wait, the allowance may fill up for the whole time or not at all.
 *
 * @returns undefined when the cycle is inconclusive
 */
export function gainOf({ accepted, activeSeconds, waitedSeconds }: Cycle): Gain | undefined {
  if (activeSeconds < fewestSeconds || accepted < fewestCalls) return undefined;
  return {
    perSecond: accepted / (activeSeconds + waitedSeconds),
    atMost: (accepted / activeSeconds) * (1 + Math.max(uncertainShare, uncertainCalls / accepted)),
  };
}

/** The least gap between the held rate and the failed one. */
const gap = 1.01;
const learnedGap = 1.02;
/** A refused probe raises the failed rate by this factor, and by up to the second one if it was far above that rate. */
const afterProbe = 1.03;
const afterFarProbe = 1.1;
const ofFarProbe = 0.7;
/** The limit is at least this share of the rate at which a search failed (a tenfold rise with Retry-After). */
const afterSearch = 0.84;
/**
 * A rate that failed after this long is close to a fine one. One that failed at once may be far above (a drop to a fifth, and token
 * buckets, with Retry-After).
 */
const heldLongMs = 3_000;
const afterLong = 0.96;
const afterShort = 0.85;
/** The share of the failed rate up to which the held rate rises, and the time constant. */
const near = 0.985;
const approachSeconds = 5;
/** The time constant where a refusal costs a wait (token buckets with Retry-After). */
const carefulApproachSeconds = 20;
const provenSeconds = 4;

/**
 * The limit is at least one rate, and another was too high: calls/s. Both come from refusals; where they are wrong, the next refusal soon
 * corrects them.
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

  /** A limit that the API stated, or that was measured over a whole window. */
  learn(rate: number): void {
    this.#held = rate;
    this.#failed = rate * learnedGap;
  }

  /** The held rate is no longer fine. */
  forget(): void {
    this.#held = undefined;
  }

  /** Only this rate is known to be too high. */
  begin(failed: number): void {
    this.#held = undefined;
    this.#failed = failed;
  }

  /**
   * A refused probe had used up what had gathered at lower use, so its final rate is far above the limit.
   *
   * @returns the rate to hold
   */
  probeFailed(refusal: RefusedRate): number {
    const failed = this.#failed ?? 0;
    const far = Math.max(ofFarProbe * refusal.sending, failed * afterProbe);
    return this.#conclude(refusal, this.#held ?? 0, Math.min(far, failed * afterFarProbe));
  }

  /** @returns the rate to hold */
  searchFailed(refusal: RefusedRate): number {
    const { sending } = refusal;
    return this.#conclude(refusal, sending * afterSearch, sending);
  }

  /** @returns the rate to hold */
  holdFailed(refusal: RefusedRate, heldMs: number): number {
    const fine = (this.#held ?? 0) * (heldMs < heldLongMs ? afterShort : afterLong);
    const gain = refusal.cycle && gainOf(refusal.cycle);
    return this.#conclude(refusal, fine, gain?.atMost ?? refusal.sending);
  }

  /** Nearer to the failed rate: the present one has proved fine. */
  approach(rate: number, seconds: number): number {
    const held = this.#held ?? rate;
    if (rate > held) this.#held = approached(held, rate, seconds, provenSeconds);
    const goal = Math.max(held, (this.#failed ?? 0) * near);
    const inSeconds = this.#isCostly ? carefulApproachSeconds : approachSeconds;
    return approached(Math.max(rate, held), goal, seconds, inSeconds);
  }

  /** Keeps both rates at or below the sent rate. */
  #conclude({ sending, cycle, isCostly }: RefusedRate, fine: number, failed: number): number {
    const gain = cycle && gainOf(cycle);
    const held = Math.min(Math.max(fine, gain?.perSecond ?? 0), sending);
    this.#isCostly = isCostly;
    this.#held = held;
    this.#failed = Math.max(Math.min(sending, failed), held * gap);
    return held;
  }
}

/** Exponentially, with the time constant `inSeconds`. */
function approached(value: number, goal: number, seconds: number, inSeconds: number): number {
  return value + (goal - value) * Math.min(1, seconds / inSeconds);
}
