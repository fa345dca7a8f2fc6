import type { Mark, Tally } from './tally.ts';

/** What a settling comes to: still going on, enough was done, too much is refused still, or nothing is accepted. */
export type SettlingVerdict = 'going-on' | 'settled' | 'too-fast' | 'dry';

export interface Cut {
  /** Calls per second from now on. */
  readonly rate: number;
  /** Milliseconds that a call takes, and that calls are still sent as before. */
  readonly latencyMs: number;
  readonly lagMs: number;
  /** Milliseconds to let an allowance gather in, at least. */
  readonly restMs?: number;
}

const shortestRestMs = 50;
const longestRestMs = 2_000;
/** Calls of the new rate that are skipped, and that must have been made before it is judged. */
const restCalls = 3;
const judgedCalls = 4;
const shortestMs = 400;
/** So many refusals with nothing accepted, and nothing will be for a while. */
const dryAfter = 3;
/** A share of the calls that may still be refused. */
const tolerated = 0.1;

/** The time after the rate was lowered, until it has shown whether that was enough. */
export class Settling {
  readonly restUntil: number;
  /** Calls that were sent until then say nothing new. */
  readonly knownUntil: number;
  readonly #tally: Tally;
  #mark: Mark;
  #endsAt: number;
  #refused = 0;

  constructor(now: number, tally: Tally, { rate, latencyMs, lagMs, restMs = 0 }: Cut) {
    const skipped = Math.max((restCalls * 1_000) / rate, restMs, shortestRestMs);
    this.restUntil = now + Math.min(skipped, longestRestMs);
    this.knownUntil = now + lagMs;
    this.#endsAt = now + Math.max(shortestMs, 2 * (latencyMs + lagMs), (judgedCalls * 1_000) / rate);
    this.#tally = tally;
    this.#mark = tally.mark(now);
  }

  /** No calls were made in the last milliseconds, because of a rest. */
  rested(now: number, ms: number): void {
    this.#endsAt += ms;
    this.#mark = this.#tally.mark(now);
  }

  refused(now: number, calls: number): void {
    // What was sent before the rest is back by its end.
    if (now >= this.restUntil) this.#refused += calls;
  }

  verdict(now: number): SettlingVerdict {
    const accepted = this.#tally.acceptedSince(this.#mark);
    if (this.#refused >= dryAfter && accepted === 0) return 'dry';
    if (now < this.#endsAt) return 'going-on';
    return this.#refused > 1 && this.#refused > tolerated * accepted ? 'too-fast' : 'settled';
  }

  /** Calls per second that were accepted meanwhile; undefined when they were too few to tell. */
  acceptedPerSecond(now: number): number | undefined {
    const accepted = this.#tally.acceptedSince(this.#mark);
    return accepted < judgedCalls ? undefined : (accepted * 1_000) / (now - this.#mark.at);
  }
}
