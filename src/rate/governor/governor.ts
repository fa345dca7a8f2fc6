import type { Pace, StartingPoint } from '../../pace.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { fastestRate, reasons, slowestRate } from './pace.ts';
import { SlowStart } from './rate-changes.ts';
import { RateIndependence } from './rate-independence.ts';
import { RateSearch } from './rate-search.ts';
import { StatedPace, statedRemaining } from './stated-pace.ts';
import { type RateNews, Reaction, type Traffic } from './traffic.ts';

export interface GovernorOptions {
  /** The most calls per second that are ever allowed; absent: no bound. */
  readonly bound?: number;
  /** Calls in flight to begin with, and the most that are ever allowed. */
  readonly concurrency: { readonly start: number; readonly most: number };
  /** What an earlier governor has found of the same API, on the clock of this one. */
  readonly known?: StartingPoint;
}

/** A governor always has a rate. */
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
  /** The most calls per second that are allowed from the next update on; undefined: no bound. */
  bound: number | undefined;
  #search: RateSearch;
  readonly #concurrency: ConcurrencyLimit;
  readonly #stated = new StatedPace();
  readonly #slowStart: SlowStart;
  readonly #reaction: Reaction;
  readonly #independence = new RateIndependence();
  #updatedAt: number;
  /** Whether the search was told of 503s as of refusals. */
  #isMisled = false;
  /** Until when the API has asked to wait. */
  #waitUntil = 0;
  /** Until when no call is to be made, for any reason. */
  #restUntil = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** Whether the API's own words tell the rate, or at least a limit to it. */
  #isStated = false;
  #isCeiled = false;

  /** @param now milliseconds since 1970, by a clock that never jumps. */
  constructor(now: number, { bound, concurrency, known = {} }: GovernorOptions) {
    const rate = believable(known.limit, slowestRate, fastestRate);
    this.bound = bound;
    this.#updatedAt = now;
    this.#search = new RateSearch(now, rate);
    this.#concurrency = new ConcurrencyLimit(now, {
      ...concurrency,
      start: believable(known.concurrency, 1, concurrency.most) ?? concurrency.start,
    });
    this.#slowStart = new SlowStart(now, rate);
    this.#reaction = new Reaction(now);
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
    const { isComparing } = this.#independence;
    this.#stated.update(now, traffic.stated, rejected > 0 && this.#isUnexpected(now, traffic));
    const news: RateNews = {
      now,
      accepted: isComparing ? 0 : traffic.accepted,
      rejected,
      remaining: this.#isCeiled || isComparing ? undefined : statedRemaining(traffic),
      active: traffic.active,
      waitUntil: this.#waitUntil,
      // What it learns from is not its own rate: no time passes for it.
      restUntil: isComparing ? now : this.#restUntil,
      latencyMs: this.#reaction.latencyMs,
      lagMs: this.#reaction.lagMs,
      most: this.bound ?? Number.POSITIVE_INFINITY,
    };
    this.#search.update(news);
    if (this.#concurrency.capped && !wasCapped) this.#search.suspectCap();
    if (!this.#concurrency.capped && wasCapped) this.#search.trustCap(news);
    return this.#decide(now, traffic.active);
  }

  /** Leaves out 503s that come at any rate. A search that has lowered the rate for them begins anew. */
  #leaveOut(now: number, met: Traffic): Traffic {
    const wasComparing = this.#independence.isComparing;
    const time = { now, passedMs: now - this.#updatedAt, reactionMs: this.#reaction.ms };
    const traffic = this.#independence.update(met, time, this.#search.rate);
    this.#updatedAt = now;
    if (traffic.rejected > 0 && traffic.rejectedWith === 503) this.#isMisled = true;
    const { isComparing, tolerates503 } = this.#independence;
    if (!wasComparing || isComparing || !tolerates503) return traffic;
    if (this.#isMisled) this.#search = new RateSearch(now);
    this.#isMisled = false;
    return traffic;
  }

  /** Whether calls were refused that kept to what the API had stated. */
  #isUnexpected(now: number, { rejectedSentAt = now }: Traffic): boolean {
    const isNews = rejectedSentAt > this.#refusedAt + this.#reaction.lagMs;
    this.#refusedAt = now;
    return isNews && this.#isStated;
  }

  #decide(now: number, active: number): GovernedPace {
    const stated = this.#stated.allowed(now, active);
    this.#isStated = stated.rate !== undefined || stated.restUntil !== undefined;
    this.#isCeiled = stated.ceiling < Number.POSITIVE_INFINITY;
    if (stated.rate !== undefined) this.#search.follow(stated.rate);
    const search = this.#search;
    const { isComparing } = this.#independence;
    const restUntil = isComparing ? 0 : search.restUntil;
    this.#restUntil = Math.max(this.#waitUntil, this.#isStated ? (stated.restUntil ?? 0) : restUntil);
    const isTesting = !this.#isStated && !isComparing && search.phase === 'waiting';
    const most = Math.min(stated.rate ?? stated.ceiling, stated.ceiling);
    const wanted = Math.max(slowestRate, this.#independence.paced(stated.rate ?? search.rate, most));
    const rate = this.#slowStart.limit(now, wanted, search.used, isTesting || now < this.#restUntil);
    return {
      rate: Math.min(rate, this.bound ?? rate),
      isKept: true,
      concurrency: this.#concurrency.limit,
      ...(this.#restUntil > now && { restUntil: this.#restUntil }),
      tolerates503: this.#independence.tolerates503,
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
    const { share, isComparing } = this.#independence;
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
