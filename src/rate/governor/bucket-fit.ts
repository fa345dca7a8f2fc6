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
