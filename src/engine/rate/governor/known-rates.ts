export interface RefusedRate {
  /** The rate at which calls were sent, calls per second. */
  readonly sentPerSecond: number;
  readonly cycle: Cycle | undefined;
  /** Whether the API asked to wait. */
  readonly isCostly: boolean;
}

/** The time from one refusal to the next. The allowance was used up at both ends, so the accepted calls are what it gained. */
export interface Cycle {
  readonly acceptedCalls: number;
  readonly activeSeconds: number;
  readonly waitedSeconds: number;
}

export interface Gain {
  /** The limit is at least this rate, calls per second. */
  readonly perSecond: number;
  /** The limit is certainly below this rate, calls per second. */
  readonly atMost: number;
}

const fewestSeconds = 1;
const fewestCalls = 2;
/** The calls by which a cycle may be miscounted, and the least uncertainty of a gain. */
const uncertainCalls = 3;
const uncertainShare = 0.01;

/**
 * While the API asks to wait, the allowance may fill up for the whole time or not at all.
 *
 * @returns undefined when the cycle is inconclusive
 */
export function gainOf({ acceptedCalls, activeSeconds, waitedSeconds }: Cycle): Gain | undefined {
  if (activeSeconds < fewestSeconds || acceptedCalls < fewestCalls) return undefined;
  return {
    perSecond: acceptedCalls / (activeSeconds + waitedSeconds),
    atMost: (acceptedCalls / activeSeconds) * (1 + Math.max(uncertainShare, uncertainCalls / acceptedCalls)),
  };
}

/** The least ratio of the failed rate to the sustained rate. */
const gap = 1.01;
const learnedGap = 1.02;
/** A refused probe raises the failed rate by the first factor, by up to the second if it was far above that rate. */
const afterProbe = 1.03;
const afterFarProbe = 1.1;
const ofFarProbe = 0.7;
/** The limit is at least this share of the rate at which a search failed (a tenfold rise with Retry-After). */
const afterSearch = 0.84;
/** A rate that fails after a shorter time may be far above a fine one (a drop to a fifth, token buckets, with Retry-After). */
const longMs = 3_000;
const afterLong = 0.96;
const afterShort = 0.85;
/** The share of the failed rate up to which the sustained rate rises, and the time constant. */
const nearFailedRate = 0.985;
const approachSeconds = 5;
/** The time constant where a refusal costs a wait (token buckets with Retry-After). */
const carefulApproachSeconds = 20;
const provenSeconds = 4;

/**
 * A rate that was fine, and one that was too high: calls/s. Both come from refusals, and the next refusal corrects them. `probeFailed`,
 * `searchFailed` and `holdFailed` return the rate at which to call now.
 */
export class KnownRates {
  #sustainedRate: number | undefined;
  #failedRate: number | undefined;
  #isCostly = false;

  get sustainedRate(): number | undefined {
    return this.#sustainedRate;
  }

  get failedRate(): number | undefined {
    return this.#failedRate;
  }

  learn(rate: number): void {
    this.#sustainedRate = rate;
    this.#failedRate = rate * learnedGap;
  }

  forget(): void {
    this.#sustainedRate = undefined;
  }

  begin(failed: number): void {
    this.#sustainedRate = undefined;
    this.#failedRate = failed;
  }

  /** What had gathered at lower use let the probe rise far above the limit. */
  probeFailed(refusal: RefusedRate): number {
    const failed = this.#failedRate ?? 0;
    const far = Math.max(ofFarProbe * refusal.sentPerSecond, failed * afterProbe);
    return this.#conclude(refusal, this.#sustainedRate ?? 0, Math.min(far, failed * afterFarProbe));
  }

  searchFailed(refusal: RefusedRate): number {
    const { sentPerSecond } = refusal;
    return this.#conclude(refusal, sentPerSecond * afterSearch, sentPerSecond);
  }

  holdFailed(refusal: RefusedRate, sustainedMs: number): number {
    const fine = (this.#sustainedRate ?? 0) * (sustainedMs < longMs ? afterShort : afterLong);
    const gain = refusal.cycle && gainOf(refusal.cycle);
    return this.#conclude(refusal, fine, gain?.atMost ?? refusal.sentPerSecond);
  }

  /** Rises towards the failed rate: the present rate has proved fine. */
  approach(rate: number, seconds: number): number {
    const sustained = this.#sustainedRate ?? rate;
    if (rate > sustained) this.#sustainedRate = approached(sustained, rate, seconds, provenSeconds);
    const goal = Math.max(sustained, (this.#failedRate ?? 0) * nearFailedRate);
    const inSeconds = this.#isCostly ? carefulApproachSeconds : approachSeconds;
    return approached(Math.max(rate, sustained), goal, seconds, inSeconds);
  }

  /** Keeps both rates at or below the sent rate. */
  #conclude({ sentPerSecond, cycle, isCostly }: RefusedRate, fine: number, failed: number): number {
    const gain = cycle && gainOf(cycle);
    const sustained = Math.min(Math.max(fine, gain?.perSecond ?? 0), sentPerSecond);
    this.#isCostly = isCostly;
    this.#sustainedRate = sustained;
    this.#failedRate = Math.max(Math.min(sentPerSecond, failed), sustained * gap);
    return sustained;
  }
}

function approached(value: number, goal: number, seconds: number, inSeconds: number): number {
  return value + (goal - value) * Math.min(1, seconds / inSeconds);
}
