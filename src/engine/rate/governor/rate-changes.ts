import { firstRate, inUse } from './pace-reasons.ts';

/** At the start the rate doubles in this time, or in this many reactions. */
const startSeconds = 0.5;
const startReactions = 4;
/** How long a search takes to rise from a rate that was fine to a rate that failed. */
const searchSeconds = 2.5;
/** A probe begins slowly, so that a limit that has not moved refuses few calls. The later refusals show, the more slowly it begins. */
const gentleSeconds = 3;
const gentleReactions = 5;
const doublingSeconds = 1.5;

/**
 * The growth of a rate in this many seconds while nothing is known about the limit, as a factor.
 *
 * @param reactionMs how long it takes until refusals show
 */
export function startingGrowth(seconds: number, reactionMs: number): number {
  return 2 ** (seconds / Math.max(startSeconds, (startReactions * reactionMs) / 1_000));
}

/** The rate of a search after this many seconds: from a rate that was fine up to one that failed, and on from there. */
export function searchedRate(fine: number, failed: number, seconds: number, reactionMs: number): number {
  if (seconds <= searchSeconds) return fine + ((failed - fine) * seconds) / searchSeconds;
  return failed * probingGrowth(seconds - searchSeconds, reactionMs);
}

/** The growth of a rate after this many seconds of a probe, as a factor: slow until the rate has doubled, then doubling. */
export function probingGrowth(seconds: number, reactionMs: number): number {
  const gentle = gentleSeconds + (gentleReactions * reactionMs) / 1_000;
  return (
    (1 + (Math.min(seconds, gentle) / gentle) ** 2) * 2 ** (Math.max(0, seconds - gentle) / doublingSeconds)
  );
}

/** The rate after a refusal, as a share of the held rate, so that some allowance gathers. A longer wait has let it gather. */
const belowHeld = 0.9;
const belowHeldAfterWait = 0.98;
const gatheredMs = 500;
/** The share that remains of a rate that may be far too high. */
const half = 0.5;

/** The rate after a refusal when a rate is held that is fine. */
export function cutToHeld(held: number, waitMs: number): number {
  return held * (waitMs > gatheredMs ? belowHeldAfterWait : belowHeld);
}

/** The rate after a refusal while it rose quickly, or while it was already lowered and still too high. */
export function cutDeep(rate: number): number {
  return rate * half;
}

const doublingMs = 500;
/**
 * After a rest this long, calls begin with part of the rate (50/s, 500/s learned before); after shorter ones it costs too much.
 */
const longRestMs = 3_000;
const afterRest = 0.25;

/** Lets the rate rise quickly, but never at once: at the start, after a rest, and when the API promises much. */
export class SlowStart {
  #ceiling: number;
  #updatedAt: number;
  #restedMs = 0;
  #rate: number;

  /** @param learned the rate that was fine in an earlier run */
  constructor(now: number, learned = 0) {
    this.#ceiling = Math.max(firstRate, afterRest * learned);
    this.#rate = this.#ceiling;
    this.#updatedAt = now;
  }

  /**
   * @param wanted calls per second
   * @param used calls per second that are used; an unused rate does not rise
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

/** The verdict of a cooldown: it goes on, the rate is low enough, too much is still refused, or nothing is accepted. */
export type CooldownVerdict = 'going-on' | 'enough' | 'too-fast' | 'dry';

export interface Cut {
  /** Calls per second from now on. */
  readonly rate: number;
  /** How long a call takes, and so how long calls of the earlier rate keep arriving, milliseconds. */
  readonly latencyMs: number;
  readonly lagMs: number;
  /** How long the allowance is left to gather, at least, milliseconds. */
  readonly restMs?: number;
}

const shortestRestMs = 50;
const longestRestMs = 2_000;
/** Calls of the new rate to skip, and calls of it that must be made before it is judged. */
const restCalls = 3;
const judgedCalls = 4;
const shortestMs = 200;
/** After this many refusals and no accepted call, nothing will be accepted for a while. */
const dryAfter = 3;
/** Calls that may still be refused, and the share of all calls. */
const toleratedCalls = 1;
const tolerated = 0.1;

/** What happened between two updates. Times are in milliseconds. */
export interface Period {
  readonly since: number;
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  /** The end of the wait that the API asks for. */
  readonly waitUntil: number;
}

/**
 * The time after the rate was lowered, until calls show whether that was enough. The first reports are about calls that were sent earlier:
 * nothing counts until all reports are about later calls.
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
      // Calls were refused even after the wait.
      if (this.#waitUntil > 0 && now > this.#waitUntil + this.#reactionMs / 2) return 'too-fast';
      this.#waitUntil = waitUntil;
      this.#countsFrom = Math.max(this.#countsFrom, waitUntil + this.#reactionMs);
    }
    if (since < this.#countsFrom) return 'going-on';
    this.#countedFrom ??= since;
    this.#accepted += accepted;
    this.#refused += rejected;
    if (this.#refused >= dryAfter && this.#accepted === 0) return 'dry';
    if (now < this.#countedFrom + this.#judgedMs) return 'going-on';
    return this.#refused > Math.max(toleratedCalls, tolerated * this.#accepted) ? 'too-fast' : 'enough';
  }
}
