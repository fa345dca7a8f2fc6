import {
  longestInheritedRestMs,
  noticeableRestMs,
  type Pace,
  type StartingPoint,
} from '../../../domain/pace.ts';
import { ConcurrencyLimit, mostConcurrency } from './concurrency-limit.ts';
import { fastestRate, reasons, slowestRate } from './pace-reasons.ts';
import { SlowStart } from './rate-changes.ts';
import { RateDependence } from './rate-dependence.ts';
import { RateSearch } from './rate-search.ts';
import { StatedPace, statedRemaining } from './stated-pace.ts';
import { StrayRefusals } from './stray-refusals.ts';
import { type RateInput, Reaction, type Traffic, type UpdateTime } from './traffic.ts';

/** There is always a rate, even if it is not enforced. */
type GovernedPace = Pace & { readonly rate: number };

const longestWaitMs = 86_400_000;

/**
 * Decides how an API may be called: signals in, a pace out, on the clock of the caller. It has no timers.
 *
 * ```
 *              refused              little is refused, a rate is held
 *     starting ───────▶ cooldown ──────────────────────────────────▶ holding ◀───────────┐
 *        ▲              ▲ │ ▲ │                                        │ │                │
 *        │              │ │ │ │ little is refused,                     │ │ after a while  │
 *        │              └─┘ │ │ none is held                           │ ▼                │
 *        │     much is      │ └─────────────▶ searching                │ probing          │
 *        │     refused:     │                  │ refused:              │ │ │              │
 *        │     lower still  │                  │ one is held           │ │ │              │
 *        │                  └──────────────────┴───────── refused ─────┴─┘ │              │
 *        └─────────────────────── twice as much is accepted ───────────────┘              │
 *                                                                                         │
 *     any phase ───────────────────────────▶ waiting ─────────────────────────────────────┘
 *               cooldown: nothing is          ▲ │        accepted; to searching or starting
 *               accepted; any: a long wait    └─┘        where no rate is held
 *               is asked for           refused: the next test later
 * ```
 *
 * These are the phases of `RateSearch`, which always runs. Two things take precedence over it:
 *
 * - **stated**: the API states enough to derive a rate (`StatedPace`). The search follows that rate, and holds it when the API stops
 *   stating it.
 * - **a wait** that the API asks for: nothing is called until it is over, for at most 24 hours. A long wait means that the allowance of a
 *   longer window is used up, and makes the phase `waiting`.
 *
 * While nothing is called, or little of the rate is used, nothing is learned and no time passes for the search. The rate never exceeds the
 * bound. At the start and after a rest it rises in steps (`SlowStart`).
 */
export class Governor {
  /** The rate in calls per second, from the next update on. */
  bound: number | undefined;
  rows = Number.POSITIVE_INFINITY;
  #search: RateSearch;
  #concurrency: ConcurrencyLimit;
  readonly #stated = new StatedPace();
  readonly #slowStart: SlowStart;
  readonly #reaction: Reaction;
  readonly #dependence: RateDependence;
  #strays = new StrayRefusals();
  #updatedAt: number;
  /** The search took 503s for refusals before it was known whether they are. */
  #isMisled = false;
  #isTrying = false;
  #waitUntil = 0;
  #waitBy: string | undefined;
  #restUntil = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #isStated = false;
  #isCeiled = false;
  #isFollowing = false;

  /**
   * @param now milliseconds since 1970, by a clock that never jumps
   * @param startingPoint learned by an earlier governor about the same API, on the same clock
   */
  constructor(now: number, startingPoint: StartingPoint = {}) {
    const rate = believable(startingPoint.limit, slowestRate, fastestRate);
    this.#updatedAt = now;
    this.#search = new RateSearch(now, rate);
    this.#concurrency = new ConcurrencyLimit(now, believable(startingPoint.concurrency, 1, mostConcurrency));
    this.#slowStart = new SlowStart(now, rate);
    this.#reaction = new Reaction(now);
    this.#dependence = new RateDependence(startingPoint.refuses503);
    this.#waitUntil = Math.min(startingPoint.restUntil ?? 0, now + longestInheritedRestMs);
    this.#waitBy = startingPoint.restBy;
    this.#restUntil = this.#waitUntil;
    if (this.#waitUntil > now) this.#search.wait(now, this.#waitUntil);
  }

  get capped(): boolean {
    return this.#concurrency.capped;
  }

  /** Ends known waits by then, so that a call finds out whether the API still asks to wait. */
  testBy(now: number, at: number): void {
    this.#waitUntil = Math.min(this.#waitUntil, at);
    if (this.#search.isWaiting && this.#search.restUntil > at) this.#search.wait(now, at);
    this.#stated.testBy(at);
  }

  /** Call several times a second, and at once after refusals. */
  update(now: number, reported: Traffic): GovernedPace {
    const traffic = this.#leaveOut(now, reported);
    if (traffic.waitUntil !== undefined && traffic.waitUntil > this.#waitUntil) {
      this.#waitUntil = Math.min(traffic.waitUntil, now + longestWaitMs);
      this.#waitBy = traffic.waitBy;
    }
    this.#reaction.update(now, traffic);
    const wasCapped = this.#concurrency.capped;
    const isCapped = this.#concurrency.update(now, traffic, {
      sentPerSecond: this.#search.sentPerSecond,
      reactionMs: this.#reaction.ms,
      isStated: this.#isStated,
    });
    const rejected = isCapped ? 0 : traffic.rejected;
    const isComparing = this.#isComparing;
    const isUnexpected = rejected > 0 && this.#isUnexpected(now, traffic);
    this.#stated.update(now, traffic.stated, isUnexpected, this.rows - traffic.active);
    const passed = traffic.accepted + (traffic.unavailable ?? 0);
    const input: RateInput = {
      now,
      accepted: isComparing ? 0 : passed,
      acceptedAside: isComparing ? traffic.accepted : 0,
      rejected,
      remaining: this.#isCeiled || isComparing ? undefined : statedRemaining(traffic),
      callsInFlight: traffic.active,
      waitUntil: this.#waitUntil,
      // During a comparison the search does not see its own rate.
      restUntil: isComparing ? now : this.#restUntil,
      latencyMs: this.#reaction.latencyMs,
      lagMs: this.#reaction.lagMs,
      mostPerSecond: this.bound ?? Number.POSITIVE_INFINITY,
      rows: this.rows,
    };
    this.#search.update(input);
    if (this.#concurrency.capped && !wasCapped) this.#search.suspectCap();
    if (!this.#concurrency.capped && wasCapped) this.#search.trustCap(input);
    return this.#decide(now, traffic.active);
  }

  /** Restarts a search that lowered the rate because of 503s that occur at any rate. */
  #leaveOut(now: number, reported: Traffic): Traffic {
    const wasComparing = this.#dependence.isComparing;
    const time = { now, passedMs: now - this.#updatedAt, reactionMs: this.#reaction.ms };
    const counted = this.#dependence.update(reported, time, this.#search);
    const traffic = this.#leaveOutStrays(counted, time);
    this.#updatedAt = now;
    const { foundRate } = this.#dependence;
    if (foundRate?.isLearnedLimit) {
      this.#search.goBack();
      this.#concurrency.ruleOutFirst();
    } else if (foundRate !== undefined) {
      this.#search = new RateSearch(now);
      this.#search.searchNear(foundRate.rate);
      this.#strays = new StrayRefusals();
      // The first refusal may have been due to calls in flight after all.
      this.#concurrency = new ConcurrencyLimit(now, this.#concurrency.limit);
    }
    if (traffic.rejected > 0 && traffic.rejectedWith === 503) this.#isMisled = true;
    if (!wasComparing || this.#dependence.isComparing || !this.#dependence.isAccident) return traffic;
    if (this.#isMisled) this.#search = new RateSearch(now);
    this.#isMisled = false;
    return traffic;
  }

  #leaveOutStrays(reported: Traffic, time: UpdateTime): Traffic {
    if (this.#dependence.isComparing) return reported;
    const rate = this.#strays.paced(this.#search.rate);
    const traffic = this.#strays.update(reported, time, this.#search);
    const isFound = this.#strays.isKnown && this.#isTrying;
    this.#isTrying = this.#strays.isTrying;
    if (isFound) {
      // The limit learned from 503s is wrong.
      this.#search = new RateSearch(time.now);
      this.#search.searchNear(rate);
    }
    return traffic;
  }

  get #isComparing(): boolean {
    return this.#dependence.isComparing || this.#strays.isTrying;
  }

  #isUnexpected(now: number, { rejectedSentAt = now }: Traffic): boolean {
    // Calls sent before the last refusal was known say nothing new.
    if (!this.#isStated || rejectedSentAt <= this.#refusedAt + this.#reaction.lagMs) return false;
    this.#refusedAt = now;
    return true;
  }

  /**
   * The rate must not limit a trial of calls in flight, unless another bound is known or each refusal costs a wait (20/s, calls of 5 s,
   * with `Retry-After`).
   */
  get #isFree(): boolean {
    const isBound = this.bound !== undefined || this.#isCeiled || this.#waitUntil > 0;
    return this.#concurrency.isTrying && !this.#isComparing && !isBound;
  }

  #decide(now: number, active: number): GovernedPace {
    const stated = this.#stated.allowed(now, active);
    this.#isStated = stated.rate !== undefined || stated.restUntil !== undefined;
    this.#isCeiled = stated.ceiling < Number.POSITIVE_INFINITY;
    if (stated.rate !== undefined) this.#search.follow(stated.rate);
    // A rate spread over a window says nothing about how fast the last rows may be called.
    else if (stated.isEnough && this.#isFollowing) this.#search = new RateSearch(now);
    this.#isFollowing = stated.rate !== undefined || (this.#isFollowing && !stated.isEnough);
    const search = this.#search;
    const isComparing = this.#isComparing;
    const restUntil = isComparing ? 0 : search.restUntil;
    const ownRestUntil = this.#isStated ? (stated.restUntil ?? 0) : restUntil;
    this.#restUntil = Math.max(this.#waitUntil, ownRestUntil);
    const restBy = this.#waitUntil >= ownRestUntil ? this.#waitBy : stated.restBy;
    const isTesting = !this.#isStated && !isComparing && search.phase === 'waiting';
    const most = Math.min(stated.rate ?? stated.ceiling, stated.ceiling);
    const wanted = Math.max(
      slowestRate,
      this.#dependence.paced(this.#strays.paced(stated.rate ?? search.rate), most),
    );
    const isResting = isTesting || now < this.#restUntil;
    const rate = this.#slowStart.limit(now, wanted, search.used, isResting, stated.rate);
    return {
      rate: Math.min(rate, this.bound ?? rate),
      isKept: !this.#isFree,
      concurrency: this.#concurrency.limit,
      ...(this.#restUntil > now && { restUntil: this.#restUntil, restBy }),
      refuses503: this.#dependence.isProven && !this.#strays.isKnown && !search.isWaiting,
      ...this.#state(now),
      limit: search.limit,
    };
  }

  #state(now: number): Pick<Pace, 'phase' | 'reason'> {
    const { phase, reason } = this.#undertaking();
    return { phase, reason: this.#waitUntil - now >= noticeableRestMs ? reasons.asked : reason };
  }

  #undertaking(): Pick<Pace, 'phase' | 'reason'> {
    const { phase, rate, reason } = this.#search;
    const { share, isComparing } = this.#dependence;
    if (this.#strays.isTrying) return { phase, reason: reasons.tried };
    if (isComparing) return { phase, reason: reasons.compared };
    if (this.#isStated) return { phase: 'stated', reason: 'the API states its limit' };
    if (share !== undefined) return { phase, reason: reasons.independent(share) };
    const isBound = this.bound !== undefined && rate >= this.bound;
    return { phase, reason: isBound ? 'the highest rate allowed' : reason };
  }
}

/** A value from a file, which may hold anything, if it lies between these bounds. */
function believable(saved: number | undefined, least: number, most: number): number | undefined {
  if (saved === undefined || !Number.isFinite(saved) || saved < least) return undefined;
  return Math.min(saved, most);
}
