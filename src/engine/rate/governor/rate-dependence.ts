import { Comparison, type ComparisonVerdict } from './comparison.ts';
import { Backoff } from './probe-backoff.ts';
import { longWaitMs } from './quota-exhaustion.ts';
import type { SearchedRate } from './rate-search.ts';
import { asRejected, isAboutRate, type Traffic, type UpdateTime, withoutRefusals } from './traffic.ts';
import { UsualShare } from './usual-share.ts';

/** 503s that went away at a lower rate depend on the rate when they return between these shares of the accepted and the sent rate. */
const comesBackFrom = 0.85;
const comesBackTo = 1.2;
/** One 503 is an accident; several among few calls call for a comparison. */
const severalCalls = 3;
const amongCalls = 20;
/** More failures than usual are compared at most this often, and count as a limit in between. */
const compareAgainMs = 60_000;
const farCompareAgainMs = 10_000;
/** Refusals that continue at this share of the accepted rate may have nothing to do with the rate. */
const farBelow = 1 / 20;
const forgottenMs = 60_000;

/**
 * Finds out whether 503s depend on the rate: at a lower rate, the 503s of a limit go away, and random ones do not. A 429 always depends on
 * the rate. So does a 503 that asks to wait, once several came among few calls.
 *
 * ```
 *             several among few calls             hardly any at the lower rate
 *   unknown ───────────────────────────▶ compared ────────────────────────────▶ refusals
 *    ▲  ▲                                 │    │ as large a share                  │
 *    │  │    nothing is accepted:         │    ▼                                   │
 *    │  └── doubted for a while ◀─────────┘  accidents ──(hardly any more)──▶ unknown
 *    └────────────── they go on though the rate is far below what was accepted ────┘
 * ```
 *
 * - **unknown**: 503s are not refusals.
 * - **compared**: the search stands still, and 503s do not count.
 * - **refusals**: each 503 is a refusal, for the rate and for its row.
 * - **accidents**: 503s are not refusals as long as there are no more than usual.
 * - **doubted**: each 503 lowers the rate, but its row counts as possibly processed. When 503s go on far below what was accepted, they are
 *   compared again.
 */
export class RateDependence {
  #comparison: Comparison | undefined;
  #isProven: boolean;
  /** Each 503 that asks to wait is a refusal, because several came among few calls. */
  #areWaitsProven = false;
  /** The rates in calls/s between which the 503s return if they depend on the rate. */
  #awaited: { readonly from: number; readonly to: number } | undefined;
  #foundRate: { readonly rate: number; readonly isLearnedLimit: boolean } | undefined;
  #usualShare: UsualShare | undefined;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #isDoubted = false;
  readonly #backoff = new Backoff();
  #calls = 0;
  #failedCalls = 0;
  /** Accepted within the last second, and the most in any second. */
  #lately: { readonly since: number; readonly at: number; readonly accepted: number }[] = [];
  #mostAccepted = 0;

  /** @param isProven an earlier governor found that 503s are refusals */
  constructor(isProven = false) {
    this.#isProven = isProven;
  }

  /** The share of calls that fails at any rate; undefined when unknown. */
  get share(): number | undefined {
    return this.#usualShare?.share;
  }

  get isComparing(): boolean {
    return this.#comparison !== undefined;
  }

  /** Accepted per second in the last comparison, and whether this is the limit learned before. */
  get foundRate(): { readonly rate: number; readonly isLearnedLimit: boolean } | undefined {
    return this.#foundRate;
  }

  get isProven(): boolean {
    return this.#isProven && !this.isComparing;
  }

  get isAccident(): boolean {
    return this.#usualShare?.isUsual ?? false;
  }

  /** @param rate the search's, calls/s */
  paced(rate: number, most: number): number {
    return Math.min(this.#comparison?.paced(rate) ?? rate, most);
  }

  /** @returns traffic in which 503s that are refusals count as rejected */
  update(traffic: Traffic, time: UpdateTime, searched: SearchedRate): Traffic {
    const { now } = time;
    this.#count(traffic, time);
    this.#foundRate = undefined;
    if (this.#comparison !== undefined) {
      if (isAboutRate(traffic)) this.#stop(now);
      else this.#compare(this.#comparison, traffic, time);
    } else {
      this.#usualShare?.update(sentOf(traffic), failedOf(traffic));
      if (this.#usualShare?.isOver) this.#usualShare = undefined;
      if (!isAboutRate(traffic) && this.#isWorthComparing(now, searched)) {
        this.#comparison = new Comparison(searched.limit, {
          accepted: this.#acceptedLately(),
          ms: this.#latelyMs(now),
        });
        return without503s(traffic);
      }
    }
    if (this.isComparing || this.#isSingleWait(traffic, time.now, searched)) return without503s(traffic);
    const isRefused = this.#isProven || this.#awaited !== undefined;
    // The calls of a comparison were not sent at the search's rate.
    if (this.#foundRate === undefined) this.#awaitReturn(failedOf(traffic), searched.rate);
    const counts = isRefused || (this.#usualShare === undefined ? this.#isDoubted : !this.isAccident);
    if (!counts) return traffic;
    if (failedOf(traffic) > 0) this.#usualShare?.startOver();
    return asRejected(traffic, now - time.reactionMs);
  }

  #acceptedLately(): number {
    return this.#lately.reduce((sum, { accepted }) => sum + accepted, 0);
  }

  /** A second, or the time since the first call. */
  #latelyMs(now: number): number {
    return Math.min(1_000, now - (this.#lately[0]?.since ?? now));
  }

  #count(traffic: Traffic, { now, passedMs }: UpdateTime): void {
    const sent = sentOf(traffic);
    const kept = Math.exp(-sent / amongCalls);
    this.#calls = this.#calls * kept + sent;
    this.#failedCalls = this.#failedCalls * kept + failedOf(traffic);
    if (sent > 0 || this.#lately.length > 0)
      this.#lately.push({ since: now - passedMs, at: now, accepted: traffic.accepted });
    while ((this.#lately[0]?.at ?? now) <= now - 1_000) this.#lately.shift();
    this.#mostAccepted = Math.max(
      this.#acceptedLately(),
      this.#mostAccepted * Math.exp(-passedMs / forgottenMs),
    );
  }

  #awaitReturn(failed: number, rate: number): void {
    if (this.#awaited === undefined) return;
    const { from, to } = this.#awaited;
    if (failed > 0 && rate >= from) this.#isProven = true;
    if (this.#isProven || rate > to) this.#awaited = undefined;
  }

  /** A single 503 that asks to wait may be an accident: the wait is kept, and the rate stays. */
  #isSingleWait({ rejectedWith, waitUntil = 0 }: Traffic, now: number, { isWaiting }: SearchedRate): boolean {
    const isShort = waitUntil > now && waitUntil <= now + longWaitMs;
    if (rejectedWith === 503 && isShort && this.#isMany) this.#areWaitsProven = true;
    return rejectedWith === 503 && isShort && !this.#areWaitsProven && !this.#isProven && !isWaiting;
  }

  get #isMany(): boolean {
    return (
      this.#failedCalls >= severalCalls && this.#failedCalls >= (severalCalls / amongCalls) * this.#calls
    );
  }

  #isWorthComparing(now: number, { rate, isWaiting }: SearchedRate): boolean {
    const isSome = this.#failedCalls >= 1 && this.#calls - this.#failedCalls >= 1;
    const isFar = isSome && !isWaiting && rate < farBelow * this.#mostAccepted;
    if (this.#isProven || this.#awaited !== undefined) return isFar;
    if (this.#isDoubted) return isFar && !this.#backoff.lasts(now);
    if (this.#usualShare === undefined) return this.#isMany;
    if (this.#usualShare.isUsual) return false;
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
      this.#usualShare = new UsualShare(comparison);
    } else if (verdict === 'dry' || verdict === 'unclear') this.#isProven = false;
    else if (verdict === 'gone') {
      this.#usualShare = undefined;
      this.#foundRate = {
        rate: comparison.acceptedPerSecond,
        isLearnedLimit: comparison.confirmedLimit !== undefined,
      };
      this.#awaited = {
        from: comesBackFrom * comparison.acceptedPerSecond,
        to: comesBackTo * comparison.sentPerSecond,
      };
    }
  }

  #stop(now: number, verdict?: ComparisonVerdict): void {
    this.#comparison = undefined;
    this.#failedCalls = 0;
    if (verdict !== 'few') this.#isDoubted = verdict === 'dry';
    this.#comparedAt = now;
    if (verdict === 'dry' && this.#usualShare === undefined) this.#backoff.begin(now);
  }
}

function sentOf({ accepted, rejected, unavailable = 0 }: Traffic): number {
  return accepted + rejected + unavailable;
}

/** Some workers may still count 503s as rejected. */
function failedOf({ rejected, rejectedWith, unavailable = 0 }: Traffic): number {
  return unavailable + (rejectedWith === 503 ? rejected : 0);
}

function without503s(traffic: Traffic): Traffic {
  return traffic.rejectedWith === 503 ? withoutRefusals(traffic, failedOf(traffic)) : traffic;
}
