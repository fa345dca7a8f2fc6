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
const shortestMs = 200;
/** So many refusals with nothing accepted, and nothing will be for a while. */
const dryAfter = 3;
/** So many refusals that are more than half of the calls leave no doubt. */
const clearly = 5;
/** Calls that may still be refused, and a share of all. */
const toleratedCalls = 1;
const tolerated = 0.1;

/** What happened between two updates. Times are milliseconds. */
export interface Period {
  readonly since: number;
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Until when the API has asked to wait. */
  readonly waitUntil: number;
}

/**
 * The time after the rate was lowered, until it has shown whether that was enough. What is told at first is of calls
 * that were sent before: nothing counts until all reports are of later ones.
 */
export class Cooldown {
  readonly restUntil: number;
  readonly #judgedMs: number;
  readonly #reactionMs: number;
  #waitUntil = 0;
  #countsFrom: number;
  #countedFrom: number | undefined;
  #accepted = 0;
  #refused = 0;

  constructor(now: number, { rate, latencyMs, lagMs, restMs = 0 }: Cut) {
    const skippedMs = Math.max((restCalls * 1_000) / rate, restMs, shortestRestMs);
    this.restUntil = now + Math.min(skippedMs, longestRestMs);
    this.#reactionMs = latencyMs + lagMs;
    this.#countsFrom = Math.max(this.restUntil, now + this.#reactionMs);
    this.#judgedMs = Math.max(shortestMs, (judgedCalls * 1_000) / rate);
  }

  update({ since, now, accepted, rejected, waitUntil }: Period): SettlingVerdict {
    if (waitUntil > this.#waitUntil) {
      // Calls that waited were refused all the same.
      if (this.#waitUntil > 0 && now > this.#waitUntil + this.#reactionMs / 2) return 'too-fast';
      this.#waitUntil = waitUntil;
      this.#countsFrom = Math.max(this.#countsFrom, waitUntil + this.#reactionMs);
    }
    if (since < this.#countsFrom) return 'going-on';
    this.#countedFrom ??= since;
    this.#accepted += accepted;
    this.#refused += rejected;
    if (this.#refused >= dryAfter && this.#accepted === 0) return 'dry';
    if (this.#refused >= clearly && this.#refused > this.#accepted) return 'too-fast';
    if (now < this.#countedFrom + this.#judgedMs) return 'going-on';
    return this.#refused > Math.max(toleratedCalls, tolerated * this.#accepted) ? 'too-fast' : 'settled';
  }

  /** Calls per second that were accepted meanwhile; undefined when they were too few to tell. */
  acceptedPerSecond(now: number): number | undefined {
    if (this.#countedFrom === undefined || this.#accepted < judgedCalls) return undefined;
    return (this.#accepted * 1_000) / (now - this.#countedFrom);
  }
}
