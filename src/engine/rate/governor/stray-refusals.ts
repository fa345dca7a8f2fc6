import { longWaitMs } from './quota-exhaustion.ts';
import type { SearchedRate } from './rate-search.ts';
import { type Traffic, type UpdateTime, withoutRefusals } from './traffic.ts';
import { UsualShare } from './usual-share.ts';

/** This many refusals in this many calls leave no doubt that there were too many. */
const manyRefused = 3;
const amongCalls = 10;
const single = 1.5;
/** After this many single refusals, the earlier fine rate is tried again, if the present rate is at most this share of it. */
const severalRefused = 5;
const farBelow = 0.6;
/** A trial takes this many calls or this time. This many refusals end it at once if they are this share of the calls. */
const triedCalls = 100;
const triedMs = 3_000;
const longestMs = 60_000;
const clearly = 4;
const clearShare = 0.15;
const deviations = 2;
/** A refusal below this share of what was accepted per second from one refusal to the next contradicts a limit. This many are no accident. */
const contradicting = 0.7;
const severalContradictions = 3;
/** A shorter time between two refusals does not count: in it, the allowance of a second may be accepted twice (fixed-window:limit=50,window=1s). */
const fewestAccepted = 8;
const fewestMs = 1_500;
/** This many accepted calls between two refusals show what a limit allows at present (500/s, then 50/s). */
const limitCalls = 100;
/** Where refusals ask to wait, an allowance fills up meanwhile: more calls must be accepted per second than before the trial. */
const clearlyMore = 1.15;

interface Trial {
  readonly rate: number;
  /** The calls accepted per second before the trial. */
  readonly acceptedBefore: number;
  readonly accepted: number;
  readonly calls: number;
  readonly refused: number;
  readonly ms: number;
}

/** What happened since the last refusal, or the start. */
interface Interval {
  accepted: number;
  ms: number;
  waitedMs: number;
  /** Whether the interval began with a refusal, when the allowance was used up. */
  readonly isWhole: boolean;
}

/**
 * Finds out whether single refusals depend on the rate: tries the earlier fine rate again, with refusals counted but not obeyed. Waits of up
 * to three seconds are kept all the same.
 *
 * A limit accepts what its allowance gains from one refusal to the next, so that it refuses again at about the same rate. Refusals at much
 * lower rates (4 % of the rows are refused once, at any rate) call for a trial after a few of them.
 *
 * ```
 *            the rate came down by single refusals             no more of them than before
 *   unknown ──────────────────────────────────────▶ on trial ──────────────────────────────▶ known
 *      ▲                                              │ many                                   │
 *      └──────────────────────────────────────────────┘◀──────────── hardly any any more ──────┘
 * ```
 */
export class StrayRefusals {
  #trial: Trial | undefined;
  #usualShare: UsualShare | undefined;
  /** The highest rate sustained since many were last refused; calls and refusals since then. */
  #best = 0;
  #sentCalls = 0;
  #refusals = 0;
  #calls = 0;
  #refusedCalls = 0;
  #waitUntil = 0;
  #interval: Interval = { accepted: 0, ms: 0, waitedMs: 0, isWhole: false };
  /** Calls/s: the most that an allowance gained, and the most that were sent meanwhile. */
  #gained = 0;
  #fastest = 0;
  #contradictions = 0;
  #sinceMs = 0;
  #acceptedCalls = 0;

  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  get isKnown(): boolean {
    return this.#usualShare !== undefined;
  }

  paced(rate: number): number {
    return this.#trial?.rate ?? rate;
  }

  /** @returns the traffic without refusals that come at any rate */
  update(
    traffic: Traffic,
    { now, passedMs, reactionMs }: UpdateTime,
    { rate, limit = 0, isWaiting }: SearchedRate,
  ): Traffic {
    const { accepted, rejected, unavailable = 0, waitUntil = 0 } = traffic;
    const calls = accepted + rejected + unavailable;
    const isAsked = waitUntil > now && rejected > 0 && traffic.rejectedWith !== 503;
    this.#count(calls, rejected, limit, isAsked);
    this.#measure(accepted, rejected, passedMs, now, rate);
    this.#waitUntil = Math.max(this.#waitUntil, waitUntil);
    if (isWaiting || (isAsked && waitUntil > now + longWaitMs)) {
      this.#trial = undefined;
      this.#forget();
      return traffic;
    }
    this.#usualShare?.update(calls, rejected);
    if (this.#usualShare?.isOver) this.#usualShare = undefined;
    if (this.#trial !== undefined) this.#try(this.#trial, accepted, rejected, unavailable, passedMs);
    else if (this.#usualShare === undefined && rejected > 0) {
      const isFar = this.#refusals >= severalRefused && rate < farBelow * this.#best;
      const isContradicted = this.#contradictions >= severalContradictions;
      const acceptedBefore = (this.#acceptedCalls * 1_000) / Math.max(1, this.#sinceMs);
      const started = { acceptedBefore, accepted: 0, calls: 0, refused: 0, ms: -2 * reactionMs - passedMs };
      if (isContradicted) this.#trial = { ...started, rate: Math.max(this.#fastest, this.#best) };
      else if (isFar && !isAsked) this.#trial = { ...started, rate: this.#best };
    }
    const isStray = this.isTrying || (this.#usualShare?.isUsual ?? false);
    if (rejected === 0) return traffic;
    if (isStray) return withoutRefusals(traffic);
    this.#usualShare?.startOver();
    return traffic;
  }

  #measure(accepted: number, rejected: number, passedMs: number, now: number, rate: number): void {
    const interval = this.#interval;
    interval.accepted += accepted;
    interval.ms += passedMs;
    if (now - passedMs < this.#waitUntil)
      interval.waitedMs += Math.min(passedMs, this.#waitUntil - now + passedMs);
    if (interval.isWhole) {
      this.#acceptedCalls += accepted;
      this.#sinceMs += passedMs;
    }
    if (rejected === 0) return;
    this.#interval = { accepted: 0, ms: 0, waitedMs: 0, isWhole: true };
    if (rate < contradicting * this.#gained) this.#contradictions += 1;
    if (interval.accepted >= limitCalls) {
      this.#gained = 0;
      this.#fastest = 0;
      this.#contradictions = 0;
    }
    if (!interval.isWhole || interval.accepted < fewestAccepted || interval.ms < fewestMs) return;
    this.#gained = Math.max(this.#gained, (interval.accepted * 1_000) / interval.ms);
    const activeMs = Math.max(1, interval.ms - interval.waitedMs);
    this.#fastest = Math.max(this.#fastest, (interval.accepted * 1_000) / activeMs);
  }

  #count(calls: number, rejected: number, rate: number, isAsked: boolean): void {
    const kept = Math.exp(-calls / amongCalls);
    this.#calls = this.#calls * kept + calls;
    this.#refusedCalls = this.#refusedCalls * kept + rejected;
    if (this.#refusedCalls >= manyRefused && this.#refusedCalls >= (manyRefused / amongCalls) * this.#calls)
      this.#forget();
    if (!isAsked) this.#best = Math.max(this.#best, rate);
    this.#sentCalls += calls;
    if (rejected > 0 && this.#refusedCalls < single) this.#refusals += 1;
  }

  #forget(): void {
    this.#best = 0;
    this.#sentCalls = 0;
    this.#refusals = 0;
    this.#gained = 0;
    this.#fastest = 0;
    this.#contradictions = 0;
    this.#sinceMs = 0;
    this.#acceptedCalls = 0;
  }

  #try(trial: Trial, accepted: number, rejected: number, unavailable: number, passedMs: number): void {
    const ms = trial.ms + passedMs;
    if (ms < 0) {
      this.#trial = { ...trial, ms };
      return;
    }
    const tried = {
      ...trial,
      accepted: trial.accepted + accepted,
      calls: trial.calls + accepted + rejected + unavailable,
      refused: trial.refused + rejected,
      ms,
    };
    this.#trial = tried;
    const isLimit = tried.refused >= clearly && tried.refused >= clearShare * tried.calls;
    if (!isLimit && (tried.calls < triedCalls || ms < triedMs) && ms < longestMs) return;
    this.#trial = undefined;
    const isMore =
      this.#waitUntil === 0 || (tried.accepted * 1_000) / ms >= clearlyMore * tried.acceptedBefore;
    if (!isLimit && isMore && tried.calls >= triedCalls)
      this.#usualShare = new UsualShare({ calls: this.#sentCalls, failed: this.#refusals, deviations });
    this.#forget();
  }
}
