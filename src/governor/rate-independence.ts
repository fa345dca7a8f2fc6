import type { Traffic } from './traffic.ts';

/** Calls made one after the other at about the same pace. */
interface Stretch {
  readonly sent: number;
  readonly rejected: number;
  readonly ms: number;
  /** How often a refused call followed an accepted one, or the other way round, as far as reports tell. */
  readonly turns: number;
}

/** What is refused at any rate: a share, known from so many calls, the slowest of which were these. */
interface Usual {
  readonly share: number;
  readonly calls: number;
  readonly slowest: Stretch;
}

/** A stretch can be compared when it has so many calls, and took so long. */
const fewestCalls = 8;
const shortestMs = 1_000;
const remembered = 30;
/** How much slower calls must have become; how much of the share that was refused must be left, how little of the accepted. */
const slower = 2.5;
const shareLeft = 0.6;
const acceptedLeft = 0.6;
/** A row of refusals alone may be a quota that is used up, and one in a while is no storm. */
const fewestTurns = 3;
const leastShare = 0.1;
const mostShare = 0.9;
/** The usual share is known for good after so many calls; then it is judged by as many whether more, or none, are refused. */
const learnedCalls = 100;
const judgedCalls = 100;
const hardlyAny = 0.3;
const deviations = 3;
/** Where much more is sent and hardly more accepted, there is a limit after all; nothing else is believed for so long. */
const faster = 3;
const stretchesToBeSure = 2;
const mistakenMs = 30_000;
/**
 * Now and then fewer calls tell whether as many are refused still: a limit may hide behind a storm that is over. News of
 * calls that were sent before comes in first, and so many refusals are expected.
 */
const testEveryMs = 20_000;
const testedPart = 0.25;
const lateNewsMs = 500;
const expectedRefusals = 20;
const longestTestMs = 5_000;
const fewestTested = 10;

/**
 * Recognises refusals that have nothing to do with the rate: an API that fails half of the calls at random does so at
 * any rate, while one with a limit accepts as many calls when fewer are sent. From then on only what is refused beyond
 * the usual share counts as refused.
 */
export class RateIndependence {
  readonly #stretches: Stretch[] = [];
  #current: Stretch = empty;
  #wasRefused = false;
  /** Whether nothing was refused in the stretch before. */
  #wasCalm = false;
  #usual: Usual | undefined;
  /** Stretches, one after the other, that speak for a limit. */
  #limited = 0;
  #mistakenMs = 0;
  /** How long ago the last test was, and what the one that is going on has met with. */
  #untestedMs = 0;
  #test: Stretch | undefined;
  #perSecond = 0;
  /** Calls of late and those of them that were refused; older ones count less. */
  #sent = 0;
  #refused = 0;

  /** The share of calls that is refused at any rate; undefined when there is none. */
  get share(): number | undefined {
    return this.#usual?.share;
  }

  /** Calls per second that were sent before refusals lowered the rate. */
  get perSecond(): number {
    return this.#perSecond;
  }

  /** The part of the rate that is to be used: less while it is tested what is refused then. */
  get part(): number {
    return this.#test === undefined ? 1 : testedPart;
  }

  /**
   * @param passedMs since the last update
   * @returns the traffic without the refusals that do not depend on the rate
   */
  update(passedMs: number, traffic: Traffic): Traffic {
    this.#mistakenMs = Math.max(0, this.#mistakenMs - passedMs);
    // Whoever says when to come back refuses on purpose.
    if (traffic.waitUntil !== undefined) this.#forget();
    else if (this.#mistakenMs === 0) this.#observe(passedMs, traffic);
    const { accepted, rejected } = traffic;
    this.#testNowAndThen(passedMs, traffic);
    if (this.#usual === undefined || accepted + rejected === 0) return traffic;
    if (!this.#isUsual(accepted + rejected, rejected)) return traffic;
    const { rejectedSentAt: _, rejectedAmong: __, rejectedWith: ___, ...rest } = traffic;
    return { ...rest, accepted: accepted + rejected, rejected: 0 };
  }

  #observe(passedMs: number, { accepted, rejected }: Traffic): void {
    const { sent, rejected: before, ms, turns } = this.#current;
    const both = accepted > 0 && rejected > 0;
    const isOther = accepted + rejected > 0 && rejected > 0 !== this.#wasRefused;
    if (accepted + rejected > 0) this.#wasRefused = rejected > 0;
    const current = {
      sent: sent + accepted + rejected,
      rejected: before + rejected,
      ms: ms + passedMs,
      turns: turns + (both || isOther ? 1 : 0),
    };
    const isLong = current.sent >= fewestCalls && current.ms >= shortestMs;
    this.#current = isLong ? empty : current;
    if (isLong) this.#compare(current);
  }

  #compare(latest: Stretch): void {
    this.#limited = this.#usual !== undefined && isLimit(this.#usual, latest) ? this.#limited + 1 : 0;
    if (this.#limited >= stretchesToBeSure) {
      this.#forget();
      this.#mistakenMs = mistakenMs;
      return;
    }
    const known = this.#stretches.filter((before) => isIndependent(before, latest));
    // A limit that drops in the middle of a stretch looks like refusals at random.
    const isBeginning = latest.rejected > 0 && this.#wasCalm;
    this.#wasCalm = latest.rejected === 0;
    if (isBeginning) return;
    this.#stretches.push(latest);
    if (this.#stretches.length > remembered) this.#stretches.shift();
    if (known.length === 0) return;
    const calls = latest.sent + sumOf(known, ({ sent }) => sent);
    const share = (latest.rejected + sumOf(known, ({ rejected }) => rejected)) / calls;
    this.#usual = { share, calls, slowest: latest };
    this.#perSecond = Math.max(...known.map(rateOf));
    this.#stretches.length = 0;
    this.#sent = 0;
    this.#refused = 0;
  }

  #testNowAndThen(passedMs: number, { accepted, rejected }: Traffic): void {
    if (this.#usual === undefined) return;
    if (this.#test === undefined) {
      this.#untestedMs += passedMs;
      if (this.#untestedMs >= testEveryMs) this.#test = empty;
      return;
    }
    const counts = this.#test.ms >= lateNewsMs;
    this.#test = {
      ...this.#test,
      ms: this.#test.ms + passedMs,
      sent: this.#test.sent + (counts ? accepted + rejected : 0),
      rejected: this.#test.rejected + (counts ? rejected : 0),
    };
    const { sent, ms } = this.#test;
    const { share } = this.#usual;
    if (sent * share < expectedRefusals && ms < longestTestMs) return;
    const found = shareOf(this.#test);
    this.#test = undefined;
    this.#untestedMs = 0;
    if (sent < fewestTested) return;
    if (found < shareLeft * share) this.#forget();
    else if (sent * share >= expectedRefusals) this.#usual = { ...this.#usual, share: found, calls: sent };
  }

  /** Whether no more calls are refused than at any rate. */
  #isUsual(sent: number, rejected: number): boolean {
    const kept = Math.exp(-sent / judgedCalls);
    this.#sent = this.#sent * kept + sent;
    this.#refused = this.#refused * kept + rejected;
    if (this.#usual === undefined) return false;
    const { share, calls } = this.#usual;
    if (this.#sent > judgedCalls / 2 && this.#refused < hardlyAny * share * this.#sent) {
      this.#forget();
      return false;
    }
    const variance = this.#sent * share * (1 - share) * (1 + this.#sent / calls);
    if (this.#refused > share * this.#sent + deviations * Math.sqrt(Math.max(1, variance))) return false;
    if (calls < learnedCalls)
      this.#usual = {
        ...this.#usual,
        share: (share * calls + rejected) / (calls + sent),
        calls: calls + sent,
      };
    return true;
  }

  #forget(): void {
    this.#stretches.length = 0;
    this.#current = empty;
    this.#usual = undefined;
    this.#limited = 0;
    this.#untestedMs = 0;
    this.#test = undefined;
  }
}

const empty: Stretch = { sent: 0, rejected: 0, ms: 0, turns: 0 };

/** Whether calls were refused alike though the later ones were much slower. */
function isIndependent(before: Stretch, later: Stretch): boolean {
  return (
    rateOf(before) >= slower * rateOf(later) &&
    isStorm(before) &&
    isStorm(later) &&
    shareOf(later) >= shareLeft * shareOf(before) &&
    acceptedOf(later) <= acceptedLeft * acceptedOf(before)
  );
}

/** Whether hardly more is accepted though much more is sent. */
function isLimit({ share, slowest }: Usual, later: Stretch): boolean {
  const times = rateOf(later) / rateOf(slowest);
  if (share > mostShare) return true;
  return times >= faster && acceptedOf(later) <= Math.sqrt(times) * acceptedOf(slowest);
}

function isStorm(stretch: Stretch): boolean {
  const share = shareOf(stretch);
  return share >= leastShare && share <= mostShare && stretch.turns >= fewestTurns;
}

function rateOf({ sent, ms }: Stretch): number {
  return (sent * 1_000) / Math.max(1, ms);
}

function shareOf({ sent, rejected }: Stretch): number {
  return rejected / Math.max(1, sent);
}

function acceptedOf(stretch: Stretch): number {
  return rateOf(stretch) * (1 - shareOf(stretch));
}

function sumOf(stretches: readonly Stretch[], value: (stretch: Stretch) => number): number {
  return stretches.reduce((sum, stretch) => sum + value(stretch), 0);
}
