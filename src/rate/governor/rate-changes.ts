import { firstRate, inUse } from './pace.ts';

/** At the beginning the rate doubles in such a time, or in that of so many reactions. */
const startSeconds = 0.5;
const startReactions = 4;
/** A search between a rate that was fine and one that was not takes so long. */
const searchSeconds = 2.5;
/** A probe begins so slowly that a limit that is where it was refuses few calls, the later that is known the slower. */
const gentleSeconds = 3;
const gentleReactions = 5;
const doublingSeconds = 1.5;

/**
 * By what a rate grows in so many seconds while nothing is known of the limit.
 *
 * @param reactionMs how long it takes until refusals show
 */
export function startingGrowth(seconds: number, reactionMs: number): number {
  return 2 ** (seconds / Math.max(startSeconds, (startReactions * reactionMs) / 1_000));
}

/** What a search has come to after so many seconds, from a rate that was fine up to one that failed, and on from there. */
export function searchedRate(fine: number, failed: number, seconds: number, reactionMs: number): number {
  if (seconds <= searchSeconds) return fine + ((failed - fine) * seconds) / searchSeconds;
  return failed * probingGrowth(seconds - searchSeconds, reactionMs);
}

/** By what a rate has grown after so many seconds of a probe: slowly until it has doubled, then doubling. */
export function probingGrowth(seconds: number, reactionMs: number): number {
  const gentle = gentleSeconds + (gentleReactions * reactionMs) / 1_000;
  return (
    (1 + (Math.min(seconds, gentle) / gentle) ** 2) * 2 ** (Math.max(0, seconds - gentle) / doublingSeconds)
  );
}

/** Below what is held, after a refusal, so that some allowance gathers; a longer wait has let it gather already. */
const belowHeld = 0.9;
const belowHeldAfterWait = 0.98;
const gatheredMs = 500;
/** What is left of a rate that may be far too much. */
const half = 0.5;

/** The rate after a refusal, where one is held that is fine. */
export function cutToHeld(held: number, waitMs: number): number {
  return held * (waitMs > gatheredMs ? belowHeldAfterWait : belowHeld);
}

/** The rate after a refusal of one that was rising quickly, or that was lowered before and was still too much. */
export function cutDeep(rate: number): number {
  return rate * half;
}

const doublingMs = 500;
/** After a rest of so long calls begin with a part of the rate (50/s, 500/s learned before); shorter ones cost too much already. */
const longRestMs = 3_000;
const afterRest = 0.25;

/** Lets the rate rise quickly but never at once: at the beginning, after a rest, and when the API promises much. */
export class SlowStart {
  #ceiling: number;
  #updatedAt: number;
  #restedMs = 0;
  #rate: number;

  /** @param learned the rate that was fine in an earlier run. */
  constructor(now: number, learned = 0) {
    this.#ceiling = Math.max(firstRate, afterRest * learned);
    this.#rate = this.#ceiling;
    this.#updatedAt = now;
  }

  /**
   * @param wanted calls per second
   * @param used calls per second that are used of the rate: only what is used rises
   * @returns calls per second that may be made
   */
  limit(now: number, wanted: number, used: number, resting: boolean): number {
    const passed = now - this.#updatedAt;
    this.#updatedAt = now;
    if (resting) {
      this.#restedMs += passed;
      return Math.min(wanted, this.#ceiling);
    }
    if (this.#restedMs >= longRestMs)
      this.#ceiling = Math.min(this.#ceiling, Math.max(1, afterRest * this.#rate));
    this.#restedMs = 0;
    if (wanted > this.#ceiling && used >= inUse * this.#ceiling) this.#ceiling *= 2 ** (passed / doublingMs);
    this.#rate = Math.min(wanted, this.#ceiling);
    return this.#rate;
  }
}

/** What a cooldown comes to: still going on, enough was done, too much is refused still, or nothing is accepted. */
export type CooldownVerdict = 'going-on' | 'enough' | 'too-fast' | 'dry';

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

  update({ since, now, accepted, rejected, waitUntil }: Period): CooldownVerdict {
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
    return this.#refused > Math.max(toleratedCalls, tolerated * this.#accepted) ? 'too-fast' : 'enough';
  }
}
