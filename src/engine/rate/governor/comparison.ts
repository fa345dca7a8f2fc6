/** A stretch of calls at about one rate. */
interface Stretch {
  readonly calls: number;
  readonly failedCalls: number;
  readonly ms: number;
}

/**
 * - `gone`: hardly any call fails at the lower rate: only the rate causes the failures;
 * - `same`: as large a share fails: the rate does not cause them;
 * - `dry`: nothing is accepted, which says nothing about the rate;
 * - `few`: hardly any call fails at the first rate either;
 * - `unclear`: too few calls, or neither explanation fits.
 */
export type ComparisonVerdict = 'gone' | 'same' | 'dry' | 'few' | 'unclear';

/** The least rate of the first stretch: the search may have come down to 1 call/s. */
const leastRate = 20;
/** Calls that end the first stretch: this many accepted and failed calls, or some accepted and many failed ones. */
const enough = 10;
const someAccepted = 4;
const manyFailed = 40;
const fewMs = 5_000;
/**
 * The second rate, as a share of the accepted calls: higher where a limit was learned before, highest where about that limit is accepted.
 */
const ofAccepted = 0.6;
const ofAcceptedWhereLearned = 0.75;
const leastOfLearned = 0.9;
const mostOfLearned = 1.2;
/** Reports of earlier calls arrive for this long, plus two reactions. */
const lateNewsMs = 300;
/** The second stretch is judged after this many calls, or this time. */
const cleanCalls = 30;
const cleanMs = 5_000;
const fewestCalls = 8;
const longestMs = 20_000;
/**
 * A stretch counts from its first accepted call: the rest of a short window may be used up (fixed-window:limit=50,window=1s). Without an
 * accepted call, few calls are sent after `dryCalls`, and the stretch ends after `dryMs`.
 */
const dryCalls = 40;
const dryRate = 5;
const dryMs = 3_000;
/** One explanation must be 200 times as likely as the other (natural logarithm). */
const certain = 5.3;
/** If the rate is the cause, this share of the calls still fails, or the accepted calls rise by this factor. */
const partLeft = 0.25;
const timesAccepted = 3;
const hardlyAny = 0.04;

const emptyStretch: Stretch = { calls: 0, failedCalls: 0, ms: 0 };

/** Compares two stretches of calls, the second at a lower rate: does the same share fail, or less? */
export class Comparison {
  readonly #learnedLimit: number | undefined;
  readonly #acceptedBefore: { readonly accepted: number; readonly ms: number };
  #fastStretch: Stretch | undefined;
  #currentStretch = emptyStretch;
  #isWet = false;

  /**
   * @param learnedLimit the search's limit, calls/s
   * @param acceptedBefore in the second before the comparison, or since the first call
   */
  constructor(
    learnedLimit: number | undefined,
    acceptedBefore: { readonly accepted: number; readonly ms: number },
  ) {
    this.#learnedLimit = learnedLimit;
    this.#acceptedBefore = acceptedBefore;
  }

  get calls(): number {
    return (this.#fastStretch?.calls ?? 0) + this.#currentStretch.calls;
  }

  get failed(): number {
    return (this.#fastStretch?.failedCalls ?? 0) + this.#currentStretch.failedCalls;
  }

  get sentPerSecond(): number {
    return perSecond(this.#fastStretch?.calls ?? 0, this.#fastStretch?.ms ?? 0);
  }

  get acceptedPerSecond(): number {
    const { calls, failedCalls, ms } = this.#fastStretch ?? emptyStretch;
    // What a window of a second accepts at its start is not its rate.
    const mean = perSecond(calls - failedCalls + this.#acceptedBefore.accepted, ms + this.#acceptedBefore.ms);
    return Math.min(perSecond(calls - failedCalls, ms), mean);
  }

  /** The limit learned before, if about as much is accepted: the failed calls were beyond it. */
  get confirmedLimit(): number | undefined {
    if (this.#learnedLimit === undefined) return undefined;
    const ratio = this.acceptedPerSecond / this.#learnedLimit;
    return ratio >= leastOfLearned && ratio <= mostOfLearned ? this.#learnedLimit : undefined;
  }

  paced(rate: number): number {
    const paced = this.#fastStretch === undefined ? Math.max(rate, leastRate) : this.#lower;
    return !this.#isWet && this.#currentStretch.calls >= dryCalls ? Math.min(paced, dryRate) : paced;
  }

  get #lower(): number {
    const { acceptedPerSecond, confirmedLimit } = this;
    if (confirmedLimit !== undefined) return leastOfLearned * Math.min(acceptedPerSecond, confirmedLimit);
    return (this.#learnedLimit === undefined ? ofAccepted : ofAcceptedWhereLearned) * acceptedPerSecond;
  }

  /** @returns undefined while the comparison continues */
  update(calls: number, failed: number, passedMs: number, reactionMs: number): ComparisonVerdict | undefined {
    const last = this.#currentStretch;
    if (last.ms < 0) {
      this.#currentStretch = { ...last, ms: last.ms + passedMs };
      return undefined;
    }
    this.#currentStretch = {
      calls: last.calls + calls,
      failedCalls: last.failedCalls + failed,
      ms: last.ms + passedMs,
    };
    if (!this.#isWet) return this.#awaitFirst(reactionMs);
    return this.#fastStretch === undefined ? this.#judgeFast(reactionMs) : this.#judgeSlow(this.#fastStretch);
  }

  #slowDown(reactionMs: number): void {
    this.#fastStretch = this.#currentStretch;
    this.#currentStretch = { ...emptyStretch, ms: -lateNewsMs - 2 * reactionMs };
    this.#isWet = false;
  }

  #awaitFirst(reactionMs: number): ComparisonVerdict | undefined {
    const { calls, failedCalls, ms } = this.#currentStretch;
    if (calls > failedCalls) {
      this.#isWet = true;
      // A first stretch without a break counts all of its calls.
      if (this.#fastStretch === undefined && calls < dryCalls) return this.#judgeFast(reactionMs);
      this.#currentStretch = emptyStretch;
    } else if (calls >= dryCalls && ms >= dryMs) return 'dry';
    return ms >= longestMs ? 'unclear' : undefined;
  }

  #judgeFast(reactionMs: number): ComparisonVerdict | undefined {
    const { calls, failedCalls, ms } = this.#currentStretch;
    const accepted = calls - failedCalls;
    if (
      (failedCalls >= enough && accepted >= enough) ||
      (accepted >= someAccepted && failedCalls >= manyFailed)
    ) {
      this.#slowDown(reactionMs);
      return undefined;
    }
    return ms >= longestMs || (ms >= fewMs && failedCalls <= hardlyAny * calls) ? 'few' : undefined;
  }

  #judgeSlow(fast: Stretch): ComparisonVerdict | undefined {
    const { calls, failedCalls, ms } = this.#currentStretch;
    const isOver = ms >= longestMs;
    if (!isOver && calls < cleanCalls && (calls < fewestCalls || ms < cleanMs)) return undefined;
    const same = likelihoodOfSame(fast, this.#currentStretch);
    const other = likelihoodOfOther(fast, this.#currentStretch);
    if (same >= other + certain) return 'same';
    if (other < same + certain) return isOver ? 'unclear' : undefined;
    return failedCalls <= hardlyAny * calls ? 'gone' : 'unclear';
  }
}

function perSecond(calls: number, ms: number): number {
  return (calls * 1_000) / Math.max(1, ms);
}

/** The natural logarithm of how likely these failures are at the share of the stretch before. */
function likelihoodOfSame(fast: Stretch, { calls, failedCalls }: Stretch): number {
  let sum = 0;
  for (let call = 0; call < calls; call += 1) {
    const isFailed = call < failedCalls;
    const alike = isFailed ? fast.failedCalls + call : fast.calls - fast.failedCalls + call - failedCalls;
    sum += Math.log((alike + 0.5) / (fast.calls + call + 1));
  }
  return sum;
}

/** The natural logarithm of how likely these failures are at the likeliest of a few other shares. */
function likelihoodOfOther(fast: Stretch, { calls, failedCalls }: Stretch): number {
  const share = fast.failedCalls / fast.calls;
  const shares = [partLeft * share, 1 - timesAccepted * (1 - share)];
  const likelihoods = shares
    .filter((other) => other > 0)
    .map((other) => failedCalls * Math.log(other) + (calls - failedCalls) * Math.log(1 - other));
  return Math.max(...likelihoods);
}
