/** A suspicion is tried for so long, and for so many times the reaction; what counts is the second half. */
const trialMs = 2_000;
const trialReactions = 8;
/** Where calls in flight are what is limited, fewer of them lose less than that. */
const confirmed = 0.92;

/** Whether as many calls are accepted with fewer of them in flight. */
export class CrowdTrial {
  /** Calls accepted per second before. */
  readonly usual: number;
  readonly #halfAt: number;
  readonly #endsAt: number;
  #countedFrom: number | undefined;
  #accepted = 0;

  constructor(now: number, usual: number, reactionMs: number) {
    this.usual = usual;
    this.#halfAt = now + (trialMs + trialReactions * reactionMs) / 2;
    this.#endsAt = now + trialMs + trialReactions * reactionMs;
  }

  /** @returns undefined while it goes on */
  update(now: number, accepted: number): boolean | undefined {
    if (now < this.#halfAt) return undefined;
    if (this.#countedFrom === undefined) this.#countedFrom = now;
    else this.#accepted += accepted;
    if (now < this.#endsAt || now === this.#countedFrom) return undefined;
    return (this.#accepted * 1_000) / (now - this.#countedFrom) >= confirmed * this.usual;
  }
}
