import { BucketFit, CostlyRefusals } from './costly-refusals.ts';
import { approached } from './rate-changes.ts';
import { type Bracket, freeRefusals, type Refusal } from './refusals.ts';

/** Between what is held and what failed there is at least such a gap, as a factor. */
const gap = 1.01;
const learnedGap = 1.02;
/** The rate that failed is approached so near, in such a time (of an exponential); slowly where to be refused is costly. */
const near = 0.985;
const approachSeconds = 5;
const carefulApproachSeconds = 20;
/** What is held comes up to a rate that proves fine in such a time. */
const provenSeconds = 4;

/** What is known of the limit, in calls per second: a rate that it is not below, and a rate that was too much. */
export class KnownRates {
  #held: number | undefined;
  #failed: number | undefined;
  #isCostly = false;
  readonly #fit = new BucketFit();
  readonly #costly = new CostlyRefusals(this.#fit);

  get held(): number | undefined {
    return this.#held;
  }

  get failed(): number | undefined {
    return this.#failed;
  }

  /** What was accepted in so many seconds, and whether a rate failed at their end. */
  count(seconds: number, accepted: number, failed: boolean): void {
    this.#fit.count(seconds, accepted, failed);
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
    // What a limit was that has dropped fits nothing.
    if (this.#held !== undefined) this.#fit.forget();
    this.#held = undefined;
    this.#failed = failed;
  }

  /** @returns the rate that is held from now on */
  probeFailed(refusal: Refusal): number {
    const before = { held: this.#held ?? 0, failed: this.#failed ?? 0 };
    return this.#conclude(refusal, this.#conclusions(refusal).ofProbe(before, refusal));
  }

  /** @returns the rate that is held from now on */
  searchFailed(refusal: Refusal): number {
    return this.#conclude(refusal, this.#conclusions(refusal).ofSearch(this.#held, refusal));
  }

  /** @returns the rate that is held from now on */
  holdFailed(refusal: Refusal, heldMs: number): number {
    return this.#conclude(refusal, this.#conclusions(refusal).ofHold(this.#held ?? 0, refusal, heldMs));
  }

  /** The rate to hold next, which proves the present one fine and approaches the one that failed. */
  approach(rate: number, seconds: number): number {
    const held = this.#held ?? rate;
    if (rate > held) this.#held = approached(held, rate, seconds, provenSeconds);
    const goal = Math.max(held, (this.#failed ?? 0) * near);
    const inSeconds = this.#isCostly ? carefulApproachSeconds : approachSeconds;
    return approached(Math.max(rate, held), goal, seconds, inSeconds);
  }

  #conclusions({ isCostly }: Refusal) {
    return isCostly ? this.#costly : freeRefusals;
  }

  #conclude({ isCostly }: Refusal, { held, failed }: Bracket): number {
    this.#isCostly = isCostly;
    this.#held = held;
    this.#failed = Math.max(failed, held * gap);
    return held;
  }
}
