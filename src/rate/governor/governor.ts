import type { Pace, StartingPoint } from '../../pace.ts';
import { ConcurrencyLimit, mostConcurrency } from './concurrency-limit.ts';
import { fastestRate, reasons, slowestRate } from './pace.ts';
import { SlowStart } from './rate-changes.ts';
import { RateDependence } from './rate-dependence.ts';
import { RateSearch } from './rate-search.ts';
import { StatedPace, statedRemaining } from './stated-pace.ts';
import { StrayRefusals } from './stray-refusals.ts';
import { type RateNews, Reaction, type Traffic, type UpdateTime } from './traffic.ts';

/** A governor always has a rate, though it may not be kept. */
type GovernedPace = Pace & { readonly rate: number };

/** No wait is longer, whatever an API asks for. */
const longestWaitMs = 86_400_000;

/**
 * Decides how an API may be called: signals in, a pace out, on the clock of whoever asks. It has no timers.
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
 * These are the phases of `RateSearch`, which goes on all the time. Two things take precedence over it:
 *
 * - **stated**: what the API says tells a rate (`StatedPace`). The search follows it, so that it holds that rate when
 *   the API says no more; after several refusals in spite of it, it is not believed for a while.
 * - **a wait** that the API asks for: nothing is called until it is over, at most 24 hours. The phase stays what it was
 *   when it is short, and is `waiting` when it is long: an allowance for a longer window is used up.
 *
 * While nothing is called, or little of the rate is used, nothing is learned and no time passes for the search. What
 * comes out is never above the bound, and rises in steps (`SlowStart`): at the beginning, after a rest, whatever is stated.
 */
export class Governor {
  /** The most calls per second that are ever allowed, from the next update on; undefined: no bound. */
  bound: number | undefined;
  /** Rows that are left to be called, as far as is known. */
  rows = Number.POSITIVE_INFINITY;
  #search: RateSearch;
  #concurrency: ConcurrencyLimit;
  readonly #stated = new StatedPace();
  readonly #slowStart: SlowStart;
  readonly #reaction: Reaction;
  readonly #dependence: RateDependence;
  #strays = new StrayRefusals();
  #updatedAt: number;
  /** Whether the search was told of 503s as of refusals, though it was not known that they are. */
  #isMisled = false;
  #isTrying = false;
  /** Until when the API has asked to wait. */
  #waitUntil = 0;
  /** Until when no call is to be made, for any reason. */
  #restUntil = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** Whether the API's own words tell the rate, or at least a limit to it. */
  #isStated = false;
  #isCeiled = false;
  /** Whether the rate of the search is one that the API has stated. */
  #isFollowing = false;

  /**
   * @param now milliseconds since 1970, by a clock that never jumps
   * @param known what an earlier governor has found of the same API, on the same clock
   */
  constructor(now: number, known: StartingPoint = {}) {
    const rate = believable(known.limit, slowestRate, fastestRate);
    this.#updatedAt = now;
    this.#search = new RateSearch(now, rate);
    this.#concurrency = new ConcurrencyLimit(now, believable(known.concurrency, 1, mostConcurrency));
    this.#slowStart = new SlowStart(now, rate);
    this.#reaction = new Reaction(now);
    this.#dependence = new RateDependence(known.refuses503);
    this.#waitUntil = Math.min(known.restUntil ?? 0, now + longestWaitMs);
    this.#restUntil = this.#waitUntil;
    if (this.#waitUntil > now) this.#search.wait(now, this.#waitUntil);
  }

  /** Whether calls in flight are known to be what the API limits. */
  get capped(): boolean {
    return this.#concurrency.capped;
  }

  /** Takes in what has happened since the last update. Called several times a second, and at once after refusals. */
  update(now: number, met: Traffic): GovernedPace {
    const traffic = this.#leaveOut(now, met);
    this.#waitUntil = Math.max(this.#waitUntil, Math.min(traffic.waitUntil ?? 0, now + longestWaitMs));
    this.#reaction.update(now, traffic);
    const wasCapped = this.#concurrency.capped;
    const isCapped = this.#concurrency.update(now, traffic, {
      sending: this.#search.sending,
      reactionMs: this.#reaction.ms,
      isStated: this.#isStated,
    });
    const rejected = isCapped ? 0 : traffic.rejected;
    const isComparing = this.#isComparing;
    this.#stated.update(now, traffic.stated, rejected > 0 && this.#isUnexpected(now, traffic), this.rows);
    const passed = traffic.accepted + (traffic.unavailable ?? 0);
    const news: RateNews = {
      now,
      accepted: isComparing ? 0 : passed,
      acceptedAside: isComparing ? traffic.accepted : 0,
      rejected,
      remaining: this.#isCeiled || isComparing ? undefined : statedRemaining(traffic),
      active: traffic.active,
      waitUntil: this.#waitUntil,
      // What it learns from is not its own rate: no time passes for it.
      restUntil: isComparing ? now : this.#restUntil,
      latencyMs: this.#reaction.latencyMs,
      lagMs: this.#reaction.lagMs,
      most: this.bound ?? Number.POSITIVE_INFINITY,
      rows: this.rows,
    };
    this.#search.update(news);
    if (this.#concurrency.capped && !wasCapped) this.#search.suspectCap();
    if (!this.#concurrency.capped && wasCapped) this.#search.trustCap(news);
    return this.#decide(now, traffic.active);
  }

  /** Counts the 503s as what they are. A search that has lowered the rate for some that come at any rate begins anew. */
  #leaveOut(now: number, met: Traffic): Traffic {
    const wasComparing = this.#dependence.isComparing;
    const time = { now, passedMs: now - this.#updatedAt, reactionMs: this.#reaction.ms };
    const counted = this.#dependence.update(met, time, this.#search);
    const traffic = this.#leaveOutStrays(counted, time);
    this.#updatedAt = now;
    const { found } = this.#dependence;
    // What a longer window allows is known already.
    if (found?.isHeld) {
      this.#search.goBack();
      this.#concurrency.ruleOutFirst();
    } else if (found !== undefined && !this.#search.isSpread) {
      this.#search = new RateSearch(now);
      this.#search.near(found.rate);
      this.#strays = new StrayRefusals();
      // The first refusal may be one of too many in flight after all.
      this.#concurrency = new ConcurrencyLimit(now, this.#concurrency.limit);
    }
    if (traffic.rejected > 0 && traffic.rejectedWith === 503) this.#isMisled = true;
    if (!wasComparing || this.#dependence.isComparing || !this.#dependence.isAccident) return traffic;
    if (this.#isMisled) this.#search = new RateSearch(now);
    this.#isMisled = false;
    return traffic;
  }

  #leaveOutStrays(met: Traffic, time: UpdateTime): Traffic {
    if (this.#dependence.isComparing) return met;
    const rate = this.#strays.paced(this.#search.rate);
    const traffic = this.#strays.update(met, time, this.#search);
    const isFound = this.#strays.isKnown && this.#isTrying;
    this.#isTrying = this.#strays.isTrying;
    if (isFound) {
      // What those have told of the limit is wrong.
      this.#search = new RateSearch(time.now);
      this.#search.near(rate);
    }
    return traffic;
  }

  /** Whether calls are made at another rate than the search wants, to see what becomes of them. */
  get #isComparing(): boolean {
    return this.#dependence.isComparing || this.#strays.isTrying;
  }

  /** Whether calls were refused that kept to what the API had stated. */
  #isUnexpected(now: number, { rejectedSentAt = now }: Traffic): boolean {
    // Calls that were sent before the last one of them was heard of say the same.
    if (!this.#isStated || rejectedSentAt <= this.#refusedAt + this.#reaction.lagMs) return false;
    this.#refusedAt = now;
    return true;
  }

  /**
   * Whether calls in flight are on trial: the rate must not be what limits them meanwhile. Not where another bound is known, and
   * not where each refusal costs a wait (20/s, calls of 5 s, with `Retry-After`).
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
    // What was spread over a window says nothing of how fast the last rows may be called.
    else if (stated.isEnough && this.#isFollowing) this.#search = new RateSearch(now);
    this.#isFollowing = stated.rate !== undefined || (this.#isFollowing && !stated.isEnough);
    const search = this.#search;
    const isComparing = this.#isComparing;
    const restUntil = isComparing ? 0 : search.restUntil;
    this.#restUntil = Math.max(this.#waitUntil, this.#isStated ? (stated.restUntil ?? 0) : restUntil);
    const isTesting = !this.#isStated && !isComparing && search.phase === 'waiting';
    const most = Math.min(stated.rate ?? stated.ceiling, stated.ceiling);
    const wanted = Math.max(
      slowestRate,
      this.#dependence.paced(this.#strays.paced(stated.rate ?? search.rate), most),
    );
    const rate = this.#slowStart.limit(now, wanted, search.used, isTesting || now < this.#restUntil);
    return {
      rate: Math.min(rate, this.bound ?? rate),
      isKept: !this.#isFree,
      concurrency: this.#concurrency.limit,
      ...(this.#restUntil > now && { restUntil: this.#restUntil }),
      refuses503: this.#dependence.isProven && !this.#strays.isKnown && !search.isWaiting,
      ...this.#state(now),
      ...(search.limit !== undefined && { limit: search.limit }),
    };
  }

  /** Whatever is being done, a wait that the API asks for is the reason why nothing is called. */
  #state(now: number): Pick<Pace, 'phase' | 'reason'> {
    const { phase, reason } = this.#undertaking();
    return { phase, reason: this.#waitUntil > now ? 'the API asks to wait' : reason };
  }

  #undertaking(): Pick<Pace, 'phase' | 'reason'> {
    const { phase, rate, reason } = this.#search;
    const { share, isComparing } = this.#dependence;
    if (this.#strays.isTrying) return { phase, reason: reasons.tried };
    if (isComparing) return { phase, reason: reasons.compared };
    if (this.#isStated) return { phase: 'stated', reason: 'the API states its limit' };
    if (share !== undefined) return { phase, reason: reasons.independent(share) };
    const isBound = this.bound !== undefined && rate >= this.bound;
    return { phase, reason: isBound ? 'the most that is allowed here' : reason };
  }
}

/** What was kept in a file may be anything. */
function believable(kept: number | undefined, least: number, most: number): number | undefined {
  if (kept === undefined || !Number.isFinite(kept) || kept < least) return undefined;
  return Math.min(kept, most);
}
