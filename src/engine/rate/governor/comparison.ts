/** A stretch of calls at about one rate. */
interface Stretch {
  readonly calls: number;
  readonly failed: number;
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

const empty: Stretch = { calls: 0, failed: 0, ms: 0 };

/** Compares two stretches of calls, the second at a lower rate: does the same share fail, or less? */
export class Comparison {
  readonly #learnedLimit: number | undefined;
  readonly #acceptedBefore: { readonly accepted: number; readonly ms: number };
  #fast: Stretch | undefined;
  #current = empty;
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
    return (this.#fast?.calls ?? 0) + this.#current.calls;
  }

  get failed(): number {
    return (this.#fast?.failed ?? 0) + this.#current.failed;
  }

  get sending(): number {
    return perSecond(this.#fast?.calls ?? 0, this.#fast?.ms ?? 0);
  }

  get accepting(): number {
    const { calls, failed, ms } = this.#fast ?? empty;
    // What a window of a second accepts at its start is not its rate.
    const mean = perSecond(calls - failed + this.#acceptedBefore.accepted, ms + this.#acceptedBefore.ms);
    return Math.min(perSecond(calls - failed, ms), mean);
  }

  /** The limit learned before, if about as much is accepted: the failed calls were beyond it. */
  get confirmedLimit(): number | undefined {
    if (this.#learnedLimit === undefined) return undefined;
    const ratio = this.accepting / this.#learnedLimit;
    return ratio >= leastOfLearned && ratio <= mostOfLearned ? this.#learnedLimit : undefined;
  }

  paced(rate: number): number {
    const paced = this.#fast === undefined ? Math.max(rate, leastRate) : this.#lower;
    return !this.#isWet && this.#current.calls >= dryCalls ? Math.min(paced, dryRate) : paced;
  }

  get #lower(): number {
    const { accepting, confirmedLimit } = this;
    if (confirmedLimit !== undefined) return leastOfLearned * Math.min(accepting, confirmedLimit);
    return (this.#learnedLimit === undefined ? ofAccepted : ofAcceptedWhereLearned) * accepting;
  }

  /** @returns undefined while the comparison continues */
  update(calls: number, failed: number, passedMs: number, reactionMs: number): ComparisonVerdict | undefined {
    const last = this.#current;
    if (last.ms < 0) {
      this.#current = { ...last, ms: last.ms + passedMs };
      return undefined;
    }
    this.#current = {
      calls: last.calls + calls,
      failed: last.failed + failed,
      ms: last.ms + passedMs,
    };
    if (!this.#isWet) return this.#awaitFirst(reactionMs);
    return this.#fast === undefined ? this.#judgeFast(reactionMs) : this.#judgeSlow(this.#fast);
  }

  #slowDown(reactionMs: number): void {
    this.#fast = this.#current;
    this.#current = { ...empty, ms: -lateNewsMs - 2 * reactionMs };
    this.#isWet = false;
  }

  #awaitFirst(reactionMs: number): ComparisonVerdict | undefined {
    const { calls, failed, ms } = this.#current;
    if (calls > failed) {
      this.#isWet = true;
      // A first stretch without a break counts all of its calls.
      if (this.#fast === undefined && calls < dryCalls) return this.#judgeFast(reactionMs);
      this.#current = empty;
    } else if (calls >= dryCalls && ms >= dryMs) return 'dry';
    return ms >= longestMs ? 'unclear' : undefined;
  }

  #judgeFast(reactionMs: number): ComparisonVerdict | undefined {
    const { calls, failed, ms } = this.#current;
    const accepted = calls - failed;
    if ((failed >= enough && accepted >= enough) || (accepted >= someAccepted && failed >= manyFailed)) {
      this.#slowDown(reactionMs);
      return undefined;
    }
    return ms >= longestMs || (ms >= fewMs && failed <= hardlyAny * calls) ? 'few' : undefined;
  }

  #judgeSlow(fast: Stretch): ComparisonVerdict | undefined {
    const { calls, failed, ms } = this.#current;
    const isOver = ms >= longestMs;
    if (!isOver && calls < cleanCalls && (calls < fewestCalls || ms < cleanMs)) return undefined;
    const same = likelihoodOfSame(fast, this.#current);
    const other = likelihoodOfOther(fast, this.#current);
    if (same >= other + certain) return 'same';
    if (other < same + certain) return isOver ? 'unclear' : undefined;
    return failed <= hardlyAny * calls ? 'gone' : 'unclear';
  }
}

function perSecond(calls: number, ms: number): number {
  return (calls * 1_000) / Math.max(1, ms);
}

/** The natural logarithm of how likely these failures are at the share of the stretch before. */
function likelihoodOfSame(fast: Stretch, { calls, failed }: Stretch): number {
  let sum = 0;
  for (let call = 0; call < calls; call += 1) {
    const isFailed = call < failed;
    const alike = isFailed ? fast.failed + call : fast.calls - fast.failed + call - failed;
    sum += Math.log((alike + 0.5) / (fast.calls + call + 1));
  }
  return sum;
}

/** The natural logarithm of how likely these failures are at the likeliest of a few other shares. */
function likelihoodOfOther(fast: Stretch, { calls, failed }: Stretch): number {
  const share = fast.failed / fast.calls;
  const shares = [partLeft * share, 1 - timesAccepted * (1 - share)];
  const likelihoods = shares
    .filter((other) => other > 0)
    .map((other) => failed * Math.log(other) + (calls - failed) * Math.log(1 - other));
  return Math.max(...likelihoods);
}
