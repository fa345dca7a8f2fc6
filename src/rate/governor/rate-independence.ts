import { Backoff } from './schedules.ts';
import type { Traffic } from './traffic.ts';

/** Calls made at about the same rate. */
interface Stretch {
  readonly calls: number;
  readonly failed: number;
  readonly ms: number;
}

/** When an update is made, how long after the one before, and how long it takes until a decision shows, milliseconds. */
interface UpdateTime {
  readonly now: number;
  readonly passedMs: number;
  readonly reactionMs: number;
}

/** Two stretches, the second one slower. While the first one goes on there is no second. */
interface Comparison {
  readonly fast: Stretch;
  readonly slow: Stretch | undefined;
  /** The rate of the search, if the comparison calls faster than that. */
  readonly isRaised: boolean;
}

/**
 * The rates that are compared: the present one, or a few calls a second (where the search has come down to 1 call/s), and a
 * part of it.
 */
const leastRate = 4;
const slowPart = 0.25;
/** A stretch that tells enough has so many calls of both kinds (a tenth fails at random; half of them do). */
const enough = 10;
/** The first stretch ends without them after so many calls, or so many of which none was accepted: a storm it is not. */
const mostCalls = 150;
const allFailed = 20;
/** The second one, after so long, and is judged by no fewer calls. Slow APIs at 1 call/s come to that. */
const longestMs = 20_000;
const fewestCalls = 8;
/** News of calls that were sent before the rate was lowered comes in for so long, and for two calls. */
const lateNewsMs = 300;
/**
 * How much faster the first stretch must have been (half of the calls fail; a limit that answers 503), and how much of the
 * share that failed must fail in the second.
 */
const faster = 2;
const shareLeft = 0.3;
/**
 * The share that usually fails is that of about so many calls; judged is that of about so many of late (a limit on top of
 * random 503s).
 */
const learnedCalls = 500;
const judgedCalls = 100;
const hardlyAny = 0.3;
const deviations = 3;
/** More failures than usual are compared, too, so seldom: in between they are taken for a limit. */
const compareAgainMs = 60_000;

/**
 * Finds out whether 503s have anything to do with the rate: an API that fails half of the calls at random does so at any
 * rate, while one with a limit accepts as many calls when fewer are sent. Only 503s that do not ask to wait are in doubt:
 * a 429 is always about the rate.
 *
 * ```
 *            503s count as refusals          enough of both            as large a share fails
 *   unknown ───────────────────────▶ fast ──────────────────▶ slow ────────────────────────────▶ known
 *      ▲                               │ all fail, or few;      │ fewer fail;                      │
 *      └───────────────────────────────┴──── a 429, a wait ─────┘◀──── hardly any fails any more ──┘
 * ```
 *
 * While it compares, the search stands still, and 503s do not count.
 */
export class RateIndependence {
  #comparison: Comparison | undefined;
  /** When more failures than usual were compared. */
  #comparedAgainAt = Number.NEGATIVE_INFINITY;
  readonly #backoff = new Backoff();
  /** What fails at any rate. */
  #known: { readonly share: number; readonly calls: number } | undefined;
  /** Calls of late, and those of them that failed; older ones count less. */
  #calls = 0;
  #failed = 0;
  /** Whether no more fail than at any rate. */
  #isUsual = true;

  /** The share of calls that fails at any rate; undefined when none is known. */
  get share(): number | undefined {
    return this.#known?.share;
  }

  get isComparing(): boolean {
    return this.#comparison !== undefined;
  }

  /** Whether 503s are no refusals. */
  get tolerates503(): boolean {
    return this.isComparing || (this.#known !== undefined && this.#isUsual);
  }

  /** The rate to call at, calls per second: that of the search, or the one that is compared; never more than `most`. */
  paced(rate: number, most: number): number {
    if (this.#comparison === undefined) return Math.min(rate, most);
    const { fast, slow } = this.#comparison;
    if (slow === undefined) return Math.min(Math.max(rate, leastRate), most);
    // A part of what was sent: few rows, or a slow machine, may have used less than the rate.
    return slowPart * Math.min(Math.max(Math.min(rate, rateOf(fast)), leastRate), most);
  }

  /**
   * @param rate of the search, calls per second
   * @returns the traffic without the refusals that say nothing of the rate
   */
  update(traffic: Traffic, time: UpdateTime, rate: number): Traffic {
    const { accepted, rejected, rejectedWith, waitUntil } = traffic;
    const isLimited = (rejected > 0 && rejectedWith !== 503) || waitUntil !== undefined;
    if (this.#comparison !== undefined) {
      if (isLimited) this.#stop(time.now, this.#comparison.isRaised);
      else this.#compare(this.#comparison, traffic, time);
    } else {
      this.#watch(traffic);
      if (rejected > 0 && !isLimited && !this.tolerates503 && this.#isDue(time.now))
        this.#comparison = { fast: empty, slow: undefined, isRaised: rate < leastRate };
    }
    if (!this.tolerates503 || rejected === 0 || isLimited) return traffic;
    const { rejectedSentAt: _, rejectedAmong: __, rejectedWith: ___, ...rest } = traffic;
    return { ...rest, accepted: accepted + rejected, rejected: 0 };
  }

  #isDue(now: number): boolean {
    if (this.#known !== undefined) return now >= this.#comparedAgainAt + compareAgainMs;
    return !this.#backoff.lasts(now);
  }

  #compare(
    { fast, slow, isRaised }: Comparison,
    traffic: Traffic,
    { now, passedMs, reactionMs }: UpdateTime,
  ): void {
    if (slow === undefined) {
      const longer = extended(fast, traffic, passedMs);
      const isOver =
        longer.calls >= mostCalls || (longer.failed >= allFailed && longer.failed === longer.calls);
      if (isEnough(longer))
        this.#comparison = { fast: longer, slow: startedAfter(lateNewsMs + 2 * reactionMs), isRaised };
      else if (isOver) this.#stop(now, true);
      else this.#comparison = { fast: longer, slow, isRaised };
      return;
    }
    const longer = slow.ms < 0 ? { ...slow, ms: slow.ms + passedMs } : extended(slow, traffic, passedMs);
    this.#comparison = { fast, slow: longer, isRaised };
    if (longer.ms < longestMs && longer.calls < fast.calls && !isEnough(longer)) return;
    const found = isIndependent(fast, longer);
    this.#stop(now, !found);
    if (!found) return;
    const calls = fast.calls + longer.calls;
    this.#known = { share: (fast.failed + longer.failed) / calls, calls };
    this.#calls = 0;
    this.#failed = 0;
    this.#isUsual = true;
  }

  #stop(now: number, isMistaken: boolean): void {
    this.#comparison = undefined;
    if (this.#known !== undefined) this.#comparedAgainAt = now;
    else if (isMistaken) this.#backoff.begin(now);
  }

  /** Sees when more fail than is known to fail at any rate, and when hardly any do. */
  #watch({ accepted, rejected, unavailable = 0 }: Traffic): void {
    if (this.#known === undefined) return;
    const sent = accepted + rejected;
    const kept = Math.exp(-sent / judgedCalls);
    this.#calls = this.#calls * kept + sent;
    this.#failed = this.#failed * kept + unavailable;
    const { share, calls } = this.#known;
    const expected = share * this.#calls;
    if (this.#calls > judgedCalls / 2 && this.#failed < hardlyAny * expected) {
      this.#known = undefined;
      return;
    }
    const variance = expected * (1 - share) * (1 + this.#calls / calls);
    this.#isUsual = this.#failed <= expected + deviations * Math.sqrt(Math.max(1, variance));
    if (!this.#isUsual) return;
    const learned = (share * calls + unavailable) / (calls + sent);
    this.#known = { share: learned, calls: Math.min(calls + sent, learnedCalls) };
  }
}

const empty: Stretch = { calls: 0, failed: 0, ms: 0 };

function startedAfter(ms: number): Stretch {
  return { ...empty, ms: -ms };
}

function extended({ calls, failed, ms }: Stretch, traffic: Traffic, passedMs: number): Stretch {
  const { accepted, rejected, unavailable = 0 } = traffic;
  return { calls: calls + accepted + rejected, failed: failed + unavailable, ms: ms + passedMs };
}

function isEnough({ calls, failed }: Stretch): boolean {
  return failed >= enough && calls - failed >= enough;
}

/** Whether the calls of the second stretch failed as those of the first one, though they were much slower. */
function isIndependent(fast: Stretch, slow: Stretch): boolean {
  const times = rateOf(fast) / rateOf(slow);
  if (slow.calls < fewestCalls || times < faster) return false;
  const acceptedPart = (rateOf(slow) * (1 - shareOf(slow))) / (rateOf(fast) * (1 - shareOf(fast)));
  return shareOf(slow) >= shareLeft * shareOf(fast) && acceptedPart <= 1 / Math.sqrt(times);
}

function rateOf({ calls, ms }: Stretch): number {
  return (calls * 1_000) / Math.max(1, ms);
}

function shareOf({ calls, failed }: Stretch): number {
  return failed / Math.max(1, calls);
}
