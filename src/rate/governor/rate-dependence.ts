import { Comparison, type ComparisonVerdict, type SearchedRate } from './comparison.ts';
import { longWaitMs } from './quota-exhaustion.ts';
import { Backoff } from './schedules.ts';
import { asRejected, isAboutRate, type Traffic, type UpdateTime, withoutRefusals } from './traffic.ts';
import { UsualShare } from './usual-share.ts';

/** What has gone at a lower rate is known to depend on it when it comes back at such a part of what was accepted, or sent. */
const comesBackFrom = 0.85;
const comesBackTo = 1.2;
/** So many times it fails again after some calls were accepted, and that is no window that is used up now and then. */
const fewSetbacks = 2;
const manySetbacks = 4;
/** A 503 by itself is an accident; several among few calls are worth a comparison. */
const severalCalls = 3;
const amongCalls = 20;
/** More failures than usual are compared, too, so seldom: in between they are taken for a limit. Sooner where the rate is low. */
const compareAgainMs = 60_000;
const farCompareAgainMs = 10_000;
/** Calls that are refused still at such a part of the rate that was accepted may have nothing to do with it. */
const farBelow = 1 / 20;
/** The most that was accepted in a second is forgotten in such a time. */
const forgottenMs = 60_000;

/**
 * Finds out whether 503s have anything to do with the rate: those of an API that fails half of the calls at random do not go
 * when the rate goes down, those of a limit do. A 429 is always about the rate. A 503 that asks to wait is so, too, once several
 * came among few calls: single ones are waited for, and do not lower the rate.
 *
 * ```
 *             several among few calls             hardly any at the lower rate
 *   unknown ───────────────────────────▶ compared ────────────────────────────▶ refusals
 *    ▲  ▲                                 │    │ as large a share                  │
 *    │  │    nothing is accepted, or      │    ▼                                   │
 *    │  └── doubted for a while ◀─────────┘  accidents ──(hardly any more)──▶ unknown
 *    └────────────── they go on though the rate is far below what was accepted ────┘
 * ```
 *
 * - **unknown**: they are no refusals.
 * - **compared**: the search stands still, and they do not count.
 * - **refusals**: each is one, for the rate and for its row.
 * - **accidents**: they are no refusals as long as they are no more than usual.
 * - **doubted**: each lowers the rate, while its row is told that it may have been processed.
 */
export class RateDependence {
  #comparison: Comparison | undefined;
  #isProven: boolean;
  /** Whether several among few were 503s that ask to wait: each of those is a refusal then. */
  #areWaitsProven = false;
  /** Rates at which they come back if they have gone because of the rate, calls per second. */
  #awaited: { readonly from: number; readonly to: number } | undefined;
  #found: { readonly rate: number; readonly isHeld: boolean } | undefined;
  /** What fails at any rate. */
  #usual: UsualShare | undefined;
  /** When failures were compared last. */
  #comparedAt = Number.NEGATIVE_INFINITY;
  /** Whether they lower the rate until the next comparison is due. */
  #isDoubted = false;
  /** Comparisons that were unclear, one after the other: the first one is made again. */
  #unclear = 0;
  #wasAccepted = false;
  /** How often calls have failed after others were accepted, since the last comparison. */
  #setbacks = 0;
  readonly #backoff = new Backoff();
  /** Calls of late, and those of them that failed; older ones count less. */
  #calls = 0;
  #failed = 0;
  /** What was accepted within the last second, and the most of it. */
  #lately: { readonly since: number; readonly at: number; readonly accepted: number }[] = [];
  #mostAccepted = 0;

  /** @param isProven whether an earlier governor has found that 503s are refusals. */
  constructor(isProven = false) {
    this.#isProven = isProven;
  }

  /** The share of calls that fails at any rate; undefined when none is known. */
  get share(): number | undefined {
    return this.#usual?.share;
  }

  get isComparing(): boolean {
    return this.#comparison !== undefined;
  }

  /** Calls per second that are accepted, as a comparison has just shown, and whether that is the limit that was held before. */
  get found(): { readonly rate: number; readonly isHeld: boolean } | undefined {
    return this.#found;
  }

  /** Whether each 503 is known to be a refusal. */
  get isProven(): boolean {
    return this.#isProven && !this.isComparing;
  }

  /** Whether 503s are known to come at any rate, and no more of them come than usual. */
  get isAccident(): boolean {
    return this.#usual?.isUsual ?? false;
  }

  /** The rate to call at, calls per second: that of the search, or the one that is compared; never more than `most`. */
  paced(rate: number, most: number): number {
    return Math.min(this.#comparison?.paced(rate) ?? rate, most);
  }

  /**
   * @returns the traffic with those 503s as rejected calls that are refusals
   */
  update(traffic: Traffic, time: UpdateTime, searched: SearchedRate): Traffic {
    const { now } = time;
    this.#count(traffic, time);
    this.#found = undefined;
    if (this.#comparison !== undefined) {
      if (isAboutRate(traffic)) this.#stop(now, this.#comparison.isRaised ? 'dry' : undefined);
      else this.#compare(this.#comparison, traffic, time);
    } else {
      this.#usual?.update(sentOf(traffic), failedOf(traffic));
      if (this.#usual?.isOver) this.#usual = undefined;
      if (!isAboutRate(traffic) && this.#isWorthComparing(now, searched)) {
        this.#comparison = new Comparison(searched, {
          accepted: this.#acceptedLately(),
          ms: this.#latelyMs(now),
        });
        return without503s(traffic);
      }
    }
    if (this.isComparing || this.#isSingleWait(traffic, time.now, searched)) return without503s(traffic);
    const isRefused = this.#isProven || this.#awaited !== undefined;
    // What has just been compared was not sent at the rate at which the search stands.
    if (this.#found === undefined) this.#awaitReturn(failedOf(traffic), searched.rate);
    const counts = isRefused || (this.#usual === undefined ? this.#isDoubted : !this.isAccident);
    if (!counts) return traffic;
    if (failedOf(traffic) > 0) this.#usual?.startOver();
    return asRejected(traffic, now - time.reactionMs);
  }

  #acceptedLately(): number {
    return this.#lately.reduce((sum, { accepted }) => sum + accepted, 0);
  }

  /** For how long that was counted: a second, or since the first call. */
  #latelyMs(now: number): number {
    return Math.min(1_000, now - (this.#lately[0]?.since ?? now));
  }

  #count(traffic: Traffic, { now, passedMs }: UpdateTime): void {
    const sent = sentOf(traffic);
    const kept = Math.exp(-sent / amongCalls);
    if (failedOf(traffic) > 0) {
      if (this.#wasAccepted) this.#setbacks += 1;
      this.#wasAccepted = false;
    } else if (traffic.accepted > 0) this.#wasAccepted = true;
    this.#calls = this.#calls * kept + sent;
    this.#failed = this.#failed * kept + failedOf(traffic);
    if (sent > 0 || this.#lately.length > 0)
      this.#lately.push({ since: now - passedMs, at: now, accepted: traffic.accepted });
    while ((this.#lately[0]?.at ?? now) <= now - 1_000) this.#lately.shift();
    this.#mostAccepted = Math.max(
      this.#acceptedLately(),
      this.#mostAccepted * Math.exp(-passedMs / forgottenMs),
    );
  }

  /** What has gone while the rate went down comes back when it rises, or was an accident that is over. */
  #awaitReturn(failed: number, rate: number): void {
    if (this.#awaited === undefined) return;
    const { from, to } = this.#awaited;
    if (failed > 0 && rate >= from) this.#isProven = true;
    if (this.#isProven || rate > to) this.#awaited = undefined;
  }

  /** Whether a 503 that asks to wait for a moment is an accident as one that does not: it is waited, and the rate stays. */
  #isSingleWait({ rejectedWith, waitUntil = 0 }: Traffic, now: number, { isWaiting }: SearchedRate): boolean {
    const isShort = waitUntil > now && waitUntil <= now + longWaitMs;
    if (rejectedWith === 503 && isShort && this.#isMany) this.#areWaitsProven = true;
    return rejectedWith === 503 && isShort && !this.#areWaitsProven && !this.#isProven && !isWaiting;
  }

  get #isMany(): boolean {
    return this.#failed >= severalCalls && this.#failed >= (severalCalls / amongCalls) * this.#calls;
  }

  #isWorthComparing(now: number, { rate, isSpread, isWaiting }: SearchedRate): boolean {
    const isSome = this.#failed >= 1 && this.#calls - this.#failed >= 1;
    const isFar = isSome && !isWaiting && rate < farBelow * this.#mostAccepted;
    if (this.#isProven || this.#awaited !== undefined) return isFar;
    if (this.#isDoubted && isFar && !this.#backoff.lasts(now)) return true;
    if (this.#isDoubted)
      return this.#setbacks >= (isSpread || this.#backoff.lasts(now) ? manySetbacks : fewSetbacks);
    if (this.#usual === undefined) return this.#isMany;
    if (this.#usual.isUsual) return false;
    const compareAt = this.#comparedAt + (isFar ? farCompareAgainMs : compareAgainMs);
    return (this.#isMany || isFar) && now >= compareAt;
  }

  #compare(comparison: Comparison, traffic: Traffic, { now, passedMs, reactionMs }: UpdateTime): void {
    const verdict = comparison.update(sentOf(traffic), failedOf(traffic), passedMs, reactionMs);
    if (verdict === undefined) return;
    this.#stop(now, verdict);
    this.#awaited = undefined;
    if (verdict === 'same') {
      this.#isProven = false;
      this.#usual = new UsualShare(comparison);
    } else if (verdict === 'dry' || verdict === 'unclear') this.#isProven = false;
    else if (verdict === 'gone') {
      this.#usual = undefined;
      this.#found = { rate: comparison.accepting, isHeld: comparison.held !== undefined };
      this.#awaited = { from: comesBackFrom * comparison.accepting, to: comesBackTo * comparison.sending };
    }
  }

  #stop(now: number, verdict: ComparisonVerdict | undefined): void {
    this.#comparison = undefined;
    this.#failed = 0;
    this.#setbacks = 0;
    this.#unclear = verdict === 'unclear' ? this.#unclear + 1 : 0;
    if (verdict !== 'few') this.#isDoubted = verdict === 'dry' || this.#unclear > 1;
    this.#comparedAt = now;
    if (this.#isDoubted && this.#usual === undefined && verdict !== 'few') this.#backoff.begin(now);
  }
}

function sentOf({ accepted, rejected, unavailable = 0 }: Traffic): number {
  return accepted + rejected + unavailable;
}

/** Calls that were answered 503: some workers may count them as rejected still. */
function failedOf({ rejected, rejectedWith, unavailable = 0 }: Traffic): number {
  return unavailable + (rejectedWith === 503 ? rejected : 0);
}

/** The traffic with its 503s as calls that tell nothing. */
function without503s(traffic: Traffic): Traffic {
  return traffic.rejectedWith === 503 ? withoutRefusals(traffic, failedOf(traffic)) : traffic;
}
