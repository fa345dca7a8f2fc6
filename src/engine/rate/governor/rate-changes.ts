import { firstRate, inUse } from './pace-reasons.ts';

/** The starting rate doubles in this time, or in this many reactions. */
const startSeconds = 0.5;
const startReactions = 4;
const searchSeconds = 2.5;
/** A probe begins slowly, so that an unmoved limit refuses few calls: the later refusals show, the more slowly. */
const gentleSeconds = 3;
const gentleReactions = 5;
const doublingSeconds = 1.5;

/** The factor by which the rate rises while nothing is known about the limit. */
export function startingGrowth(seconds: number, reactionMs: number): number {
  return 2 ** (seconds / Math.max(startSeconds, (startReactions * reactionMs) / 1_000));
}

/** From a rate that was fine up to one that failed, and on from there. */
export function searchedRate(fine: number, failed: number, seconds: number, reactionMs: number): number {
  if (seconds <= searchSeconds) return fine + ((failed - fine) * seconds) / searchSeconds;
  return failed * probingGrowth(seconds - searchSeconds, reactionMs);
}

/** The factor by which a probing rate exceeds its start: it grows slowly up to 2, and quickly after that. */
export function probingGrowth(seconds: number, reactionMs: number): number {
  const gentle = gentleSeconds + (gentleReactions * reactionMs) / 1_000;
  return (
    (1 + (Math.min(seconds, gentle) / gentle) ** 2) * 2 ** (Math.max(0, seconds - gentle) / doublingSeconds)
  );
}

/** A cut lets some allowance gather. After a longer wait, it has gathered already. */
const belowSustained = 0.9;
const belowSustainedAfterWait = 0.98;
const gatheredMs = 500;
const half = 0.5;

/** The rate after a refusal where a fine rate is known. */
export function cutToSustained(sustained: number, waitMs: number): number {
  return sustained * (waitMs > gatheredMs ? belowSustainedAfterWait : belowSustained);
}

/** For a refusal while the rate rose quickly, or was already lowered and still too high. */
export function cutDeep(rate: number): number {
  return rate * half;
}

const doublingMs = 500;
/** After this long a rest, calls begin with part of the rate (50/s, 500/s learned before). */
const longRestMs = 3_000;
const afterRest = 0.25;

/**
 * Lets the rate rise quickly, but not at once: at the start, after a rest, and when a window has calls for all rows. A stated rate needs no
 * steps.
 */
export class SlowStart {
  #ceiling: number;
  #updatedAt: number;
  #restedMs = 0;
  #rate: number;

  /** @param learned fine in an earlier run */
  constructor(now: number, learned = 0) {
    this.#ceiling = Math.max(firstRate, afterRest * learned);
    this.#rate = this.#ceiling;
    this.#updatedAt = now;
  }

  /**
   * @param used calls/s; an unused rate does not rise
   * @param stated calls/s that the API states
   */
  limit(now: number, wanted: number, used: number, resting: boolean, stated = 0): number {
    const passed = now - this.#updatedAt;
    this.#updatedAt = now;
    if (resting) {
      this.#restedMs += passed;
      return Math.min(wanted, this.#ceiling);
    }
    if (this.#restedMs >= longRestMs)
      this.#ceiling = Math.min(this.#ceiling, Math.max(1, afterRest * this.#rate));
    this.#restedMs = 0;
    this.#ceiling = Math.max(this.#ceiling, stated);
    if (wanted > this.#ceiling && used >= inUse * this.#ceiling) this.#ceiling *= 2 ** (passed / doublingMs);
    this.#rate = Math.min(wanted, this.#ceiling);
    return this.#rate;
  }
}

export type CooldownVerdict = 'going-on' | 'enough' | 'too-fast' | 'dry';

export interface Cut {
  readonly rate: number;
  /** Calls of the earlier rate keep arriving for this long. */
  readonly latencyMs: number;
  readonly lagMs: number;
  readonly restMs?: number;
}

const shortestRestMs = 50;
const longestRestMs = 2_000;
/** Calls of the new rate to skip, and to make before it is judged. */
const restCalls = 3;
const judgedCalls = 4;
const shortestMs = 200;
/** After this many refusals and no accepted call, nothing will be accepted for a while. */
const dryAfter = 3;
const toleratedCalls = 1;
const tolerated = 0.1;

export interface Period {
  readonly since: number;
  readonly now: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly waitUntil: number;
}

/** The time after the rate was lowered, until calls sent later show whether that was enough. */
export class Cooldown {
  readonly restUntil: number;
  readonly #judgedMs: number;
  readonly #reactionMs: number;
  #waitUntil = 0;
  #countsFrom: number;
  #countedFrom: number | undefined;
  #acceptedCalls = 0;
  #refusedCalls = 0;

  constructor(now: number, { rate, latencyMs, lagMs, restMs = 0 }: Cut) {
    const skippedMs = Math.max((restCalls * 1_000) / rate, restMs, shortestRestMs);
    this.restUntil = now + Math.min(skippedMs, longestRestMs);
    this.#reactionMs = latencyMs + lagMs;
    this.#countsFrom = Math.max(this.restUntil, now + this.#reactionMs);
    this.#judgedMs = Math.max(shortestMs, (judgedCalls * 1_000) / rate);
  }

  update({ since, now, accepted, rejected, waitUntil }: Period): CooldownVerdict {
    if (waitUntil > this.#waitUntil) {
      // Calls were refused even after the wait. A refusal that is not due to the rate only asks to wait.
      if (rejected > 0 && this.#waitUntil > 0 && now > this.#waitUntil + this.#reactionMs / 2)
        return 'too-fast';
      this.#waitUntil = waitUntil;
      this.#countsFrom = Math.max(this.#countsFrom, waitUntil + this.#reactionMs);
    }
    if (since < this.#countsFrom) return 'going-on';
    this.#countedFrom ??= since;
    this.#acceptedCalls += accepted;
    this.#refusedCalls += rejected;
    if (this.#refusedCalls >= dryAfter && this.#acceptedCalls === 0) return 'dry';
    if (now < this.#countedFrom + this.#judgedMs) return 'going-on';
    return this.#refusedCalls > Math.max(toleratedCalls, tolerated * this.#acceptedCalls)
      ? 'too-fast'
      : 'enough';
  }
}
