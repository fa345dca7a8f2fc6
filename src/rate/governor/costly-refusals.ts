import type { BucketFit } from './bucket-fit.ts';
import type { Gain } from './gains.ts';
import type { Bracket, Conclusions, Refusal } from './refusal.ts';

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
