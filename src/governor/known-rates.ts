import { type Cycle, type Gain, Gains } from './gains.ts';
import { approached } from './growth.ts';

/** A refusal, with what is known of the calls before it. */
export interface Refusal {
  /** Calls that were sent per second when it happened. */
  readonly sending: number;
  /** What the API had accepted since the refusal before. */
  readonly cycle: Cycle | undefined;
  /** Whether the API asks to wait. */
  readonly isCostly: boolean;
}

/** Between what is held and what failed there is at least such a gap, as a factor. */
const gap = 1.01;
const learnedGap = 1.02;
/** A rate that failed after it was held for so long can't be far from fine; one that failed at once may be. */
const heldLongMs = 5_000;
const afterLong = 0.95;
const afterShort = 0.85;
/** The rate at which a search failed is above the limit by no more than that. */
const afterSearch = 0.8;
/** By how much a failed probe lets the rate come nearer to it; less where finding the limit costs a pause. */
const afterProbe = 1.03;
const afterCostlyProbe = 1.02;
/** The rate that failed is approached so near, in such a time (of an exponential). */
const near = 0.985;
const approachSeconds = 5;
/** What is held comes up to a rate that proves fine in such a time. */
const provenSeconds = 4;

/** What is known of the limit, in calls per second: a rate that it is not below, and a rate that was too much. */
export class KnownRates {
  #held: number | undefined;
  #failed: number | undefined;
  readonly #gains = new Gains();

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

  /** The limit is not what it was. */
  forget(): void {
    this.#held = undefined;
    this.#gains.forget();
  }

  /** All that is known is that this rate is too much. */
  begin(failed: number): void {
    this.forget();
    this.#failed = failed;
  }

  /** A probe was refused. It had used up what gathered while less was used: the rate at its end is far above the limit. */
  probeFailed(refusal: Refusal): number {
    const raised = (this.#failed ?? 0) * (refusal.isCostly ? afterCostlyProbe : afterProbe);
    return this.#refused(refusal, this.#held ?? 0, () => raised);
  }

  /** A search was refused. */
  searchFailed(refusal: Refusal): number {
    const { sending } = refusal;
    return this.#refused(refusal, Math.max(this.#held ?? 0, sending * afterSearch), () => sending);
  }

  /** A rate that was held was refused. */
  holdFailed(refusal: Refusal, heldMs: number): number {
    const fine = (this.#held ?? 0) * (heldMs < heldLongMs ? afterShort : afterLong);
    return this.#refused(refusal, fine, (gain) => gain?.atMost ?? refusal.sending);
  }

  /** The rate to hold next, which proves the present one fine and approaches the one that failed. */
  approach(rate: number, seconds: number): number {
    const held = this.#held ?? rate;
    if (rate > held) this.#held = approached(held, rate, seconds, provenSeconds);
    const goal = Math.max(held, (this.#failed ?? 0) * near);
    return approached(Math.max(rate, held), goal, seconds, approachSeconds);
  }

  /** @returns the rate that is held from now on */
  #refused({ sending, cycle }: Refusal, fine: number, failed: (gain: Gain | undefined) => number): number {
    const gain = cycle && this.#gains.add(cycle);
    const held = Math.min(Math.max(fine, gain?.perSecond ?? 0), sending);
    this.#held = held;
    this.#failed = Math.min(sending, Math.max(failed(gain), held * gap));
    return held;
  }
}
