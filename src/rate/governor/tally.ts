import type { Cycle } from './refusals.ts';

/** A moment, with what had happened until then. */
export interface Mark {
  readonly at: number;
  readonly accepted: number;
  /** For how long the API had asked to wait, all in all, milliseconds. */
  readonly waitedMs: number;
}

/** The rate at which calls are sent is a mean of about so many calls, and of no less time. */
const meanOfCalls = 10;
const meanOfMs = 500;

/** Counts what was accepted, and how fast calls are sent. */
export class Tally {
  #accepted = 0;
  #waitedMs = 0;
  /** Calls sent and the time it took, the longer ago the less they count. */
  #sent = 0;
  #sentMs = 0;
  /** Calls that were allowed in that time, which count likewise. */
  #allowed = 0;
  #empty: Mark | undefined;

  get accepted(): number {
    return this.#accepted;
  }

  /** @param rate calls per second that were allowed meanwhile. */
  count(
    calls: { readonly accepted: number; readonly rejected: number },
    passedMs: number,
    rate: number,
  ): void {
    this.#accepted += calls.accepted;
    const sent = calls.accepted + calls.rejected;
    // That nothing was called before the first row came tells nothing.
    if (sent === 0 && this.#sent === 0) return;
    const kept = Math.exp(-passedMs / Math.max(meanOfMs, (meanOfCalls * 1_000) / rate));
    this.#sent = this.#sent * kept + sent;
    this.#sentMs = this.#sentMs * kept + passedMs;
    this.#allowed = this.#allowed * kept + (rate * passedMs) / 1_000;
  }

  /** The API had asked to wait for so long. */
  waited(ms: number): void {
    this.#waitedMs += ms;
  }

  mark(now: number): Mark {
    return { at: now, accepted: this.#accepted, waitedMs: this.#waitedMs };
  }

  acceptedSince({ accepted }: Mark): number {
    return this.#accepted - accepted;
  }

  /** What the API allows was used up at this time. */
  markEmpty(now: number): void {
    this.#empty = this.mark(now);
  }

  /** Calls sent per second of late; 0 when nothing is known. */
  get sentPerSecond(): number {
    return this.#sentMs === 0 ? 0 : (this.#sent * 1_000) / this.#sentMs;
  }

  /** The part of a rate that is used of late: of what was allowed meanwhile where that is less, as while it rises. */
  usedShareOf(rate: number): number {
    const allowed = Math.min(this.#allowed, (rate * this.#sentMs) / 1_000);
    return allowed === 0 ? 0 : this.#sent / allowed;
  }

  /** From then on, when the allowance had been used up before; undefined: it never had. */
  cycle(now: number): Cycle | undefined {
    if (this.#empty === undefined) return undefined;
    const waitedSeconds = (this.#waitedMs - this.#empty.waitedMs) / 1_000;
    return {
      accepted: this.acceptedSince(this.#empty),
      activeSeconds: (now - this.#empty.at) / 1_000 - waitedSeconds,
      waitedSeconds,
    };
  }
}
