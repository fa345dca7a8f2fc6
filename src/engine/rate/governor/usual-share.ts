const learnedCalls = 500;
/** The usual share is compared with that of about this many recent calls (a limit on top of random 503s). */
const judgedCalls = 100;
const hardlyAny = 0.3;
const uncertain = 1.5;

interface KnownShare {
  readonly calls: number;
  readonly failed: number;
  /** Standard deviations from which more failures are unusual. Default 3. */
  readonly deviations?: number;
}

/** The share of calls that fails at any rate, and whether more have failed lately. */
export class UsualShare {
  #share: number;
  #learnedOf: number;
  #calls = 0;
  #failedCalls = 0;
  #isUsual = true;

  /** A limit that is reached slowly would otherwise become usual. */
  readonly #highestShare: number;

  readonly #deviations: number;

  constructor({ calls, failed, deviations = 3 }: KnownShare) {
    this.#share = failed / calls;
    this.#learnedOf = calls;
    this.#highestShare = this.#share + uncertain * Math.sqrt((this.#share * (1 - this.#share)) / calls);
    this.#deviations = deviations;
  }

  get share(): number {
    return this.#share;
  }

  get isUsual(): boolean {
    return this.#isUsual;
  }

  get isOver(): boolean {
    return this.#calls > judgedCalls / 2 && this.#failedCalls < hardlyAny * this.#share * this.#calls - 1;
  }

  /** The rate is lowered because of these failures, which say nothing about the lower rate. */
  startOver(): void {
    this.#calls = 0;
    this.#failedCalls = 0;
  }

  update(calls: number, failed: number): void {
    const kept = Math.exp(-calls / judgedCalls);
    this.#calls = this.#calls * kept + calls;
    this.#failedCalls = this.#failedCalls * kept + failed;
    const expected = this.#share * this.#calls;
    const variance = expected * (1 - this.#share) * (1 + this.#calls / this.#learnedOf);
    this.#isUsual = this.#failedCalls <= expected + this.#deviations * Math.sqrt(Math.max(1, variance));
    if (!this.#isUsual || calls === 0) return;
    this.#share = Math.min(
      (this.#share * this.#learnedOf + failed) / (this.#learnedOf + calls),
      this.#highestShare,
    );
    this.#learnedOf = Math.min(this.#learnedOf + calls, learnedCalls);
  }
}
