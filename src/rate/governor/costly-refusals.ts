import type { Bracket, Conclusions, Gain, Refusal } from './refusals.ts';

/** A share of the rate that was refused, which is fine: at least and at most. */
type Share = readonly [least: number, most: number];

const afterSearch: Share = [0.8, 0.96];
const afterHold: Share = [0.92, 0.97];
/** A rate that is refused so soon after it was begun with is far from fine, the farther the oftener that happens. */
const soonMs = 1_500;
const afterSoon: readonly Share[] = [
  [0.85, 0.95],
  [0.7, 0.85],
];
const afterManySoon: Share = [0.5, 0.7];
/** By how much a failed probe lets the rate come nearer to it, and how much more what fits may be than what was held. */
const afterProbe = 1.02;
const mostGain = 1.08;
/** Between what fits and what certainly does not. */
const gap = 1.02;

/**
 * Of refusals with which the API asks to wait: each costs that time, so there are few, and while the API is waited for its
 * allowance fills up, nobody knows how far. Which rate fits all of them tells more than the last one does.
 */
export class CostlyRefusals implements Conclusions {
  readonly #fit: BucketFit;
  /** Refusals one after the other of rates that had just begun. */
  #soon = 0;
  /** What was held before a probe made it more. */
  #proven: number | undefined;

  constructor(fit: BucketFit) {
    this.#fit = fit;
  }

  ofProbe({ held, failed }: Bracket, refusal: Refusal): Bracket {
    const raised = failed * afterProbe;
    this.#proven = held;
    const fit = this.#fitting(refusal)?.perSecond ?? held;
    return { held: clamp(fit, held, Math.max(held, Math.min(failed, held * mostGain))), failed: raised };
  }

  ofSearch(held: number | undefined, refusal: Refusal): Bracket {
    const { sending } = refusal;
    const found = within(afterSearch, sending, this.#fitting(refusal)?.perSecond);
    return { held: Math.max(held ?? 0, found), failed: sending };
  }

  ofHold(_: number, refusal: Refusal, heldMs: number): Bracket {
    const { sending } = refusal;
    const fit = this.#fitting(refusal);
    if (heldMs >= soonMs) {
      this.#soon = 0;
      const held = within(afterHold, sending, fit?.perSecond);
      return { held, failed: clamp(fit?.atMost ?? sending, held * gap, sending) };
    }
    const share = afterSoon[this.#soon] ?? afterManySoon;
    const proven = Math.min(this.#proven ?? 0, share[1] * sending);
    this.#soon += 1;
    this.#proven = undefined;
    return { held: Math.max(proven, within(share, sending, fit?.perSecond)), failed: sending };
  }

  #fitting({ cycle, sending }: Refusal): Gain | undefined {
    if (cycle === undefined || cycle.activeSeconds <= 0) return undefined;
    const { accepted, activeSeconds, waitedSeconds } = cycle;
    return this.#fit.estimate(accepted / (activeSeconds + waitedSeconds), sending);
  }
}

function within([least, most]: Share, sending: number, fit = 0): number {
  return clamp(fit, least * sending, most * sending);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** What happened in a time, seconds. */
interface Step {
  readonly seconds: number;
  readonly accepted: number;
  /** Whether a call was refused at its end. */
  readonly refused: boolean;
}

/** What fits what happened. */
export interface Fit {
  /** Calls per second that fit best. */
  readonly perSecond: number;
  /** The most calls per second that fit nearly as well. */
  readonly atMost: number;
}

/** What happened longer ago is forgotten. */
const memorySeconds = 120;
/** Refusals that are compared, the latest. */
const compared = 4;
/** Rates that are tried between the least and the most that can be. */
const tried = 60;
/** Calls by which what was used up at two refusals may differ: what is under way is counted later. */
const uncertainCalls = 2;

/**
 * Finds which token bucket explains what was accepted and refused: the one that was used up by as much at each refusal
 * and never by more between them. A fit needs two refusals. It tells a rate also where waits fill the bucket up again.
 */
export class BucketFit {
  #steps: Step[] = [];
  #seconds = 0;

  /** The limit has changed. */
  forget(): void {
    this.#steps = [];
    this.#seconds = 0;
  }

  /** @param accepted calls in the last seconds, of which the API may have asked to wait for some. */
  count(seconds: number, accepted: number, refused: boolean): void {
    this.#steps.push({ seconds, accepted, refused });
    this.#seconds += seconds;
    while (this.#seconds > memorySeconds) this.#seconds -= this.#steps.shift()?.seconds ?? this.#seconds;
  }

  /** @returns undefined while there were too few refusals to tell. */
  estimate(least: number, most: number): Fit | undefined {
    const refusals = this.#steps.filter(({ refused }) => refused).length;
    if (refusals < 2 || most <= least) return undefined;
    const fits = Array.from({ length: tried + 1 }, (_, index) => {
      const perSecond = least + ((most - least) * index) / tried;
      return { perSecond, ...this.#try(perSecond, refusals - compared) };
    });
    const best = fits.reduce((one, other) => (other.relative < one.relative ? other : one));
    const worse = fits.find(
      ({ perSecond, misfit }) => perSecond > best.perSecond && misfit > best.misfit + uncertainCalls,
    );
    return { perSecond: best.perSecond, atMost: worse?.perSecond ?? most };
  }

  /** By how many calls a bucket that gains so much a second does not explain what happened, and by which part of it. */
  #try(perSecond: number, skipped: number): { readonly misfit: number; readonly relative: number } {
    let used = 0;
    let between = 0;
    let refusal = 0;
    const atRefusals: number[] = [];
    for (const { seconds, accepted, refused } of this.#steps) {
      used = Math.max(0, used + accepted - perSecond * seconds);
      if (!refused) between = Math.max(between, used);
      else if (refusal++ >= skipped) atRefusals.push(used);
    }
    const misfit = Math.max(...atRefusals, between) - Math.min(...atRefusals);
    const mean = atRefusals.reduce((sum, each) => sum + each, 0) / atRefusals.length;
    // A bucket that gains too much is never used up: that all refusals are alike then explains nothing.
    return { misfit, relative: (misfit + 1) / (mean + 1) };
  }
}
