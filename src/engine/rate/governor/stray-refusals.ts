import type { SearchedRate } from './rate-search.ts';
import { type Traffic, type UpdateTime, withoutRefusals } from './traffic.ts';
import { UsualShare } from './usual-share.ts';

/** This many refusals in this many calls leave no doubt that there were too many. */
const manyRefused = 3;
const amongCalls = 10;
const single = 1.5;
/** After this many single refusals, the earlier fine rate is tried again, if the present rate is at most this share of it. */
const severalRefused = 5;
const farBelow = 0.6;
/** A trial takes this many calls or this time. This many refusals end it at once if they are this share of the calls. */
const triedCalls = 100;
const triedMs = 3_000;
const longestMs = 60_000;
const clearly = 4;
const clearShare = 0.15;
const deviations = 2;

interface Trial {
  readonly rate: number;
  readonly calls: number;
  readonly refused: number;
  readonly ms: number;
}

/**
 * Finds out whether single refusals depend on the rate: tries the earlier fine rate again, with refusals counted but not obeyed.
 *
 * ```
 *            the rate came down by single refusals             no more of them than before
 *   unknown ──────────────────────────────────────▶ on trial ──────────────────────────────▶ known
 *      ▲                                              │ many                                   │
 *      └──────────────────────────────────────────────┘◀──────────── hardly any any more ──────┘
 * ```
 */
export class StrayRefusals {
  #trial: Trial | undefined;
  #usual: UsualShare | undefined;
  /** The highest rate held since many were last refused; calls and refusals since then. */
  #best = 0;
  #sent = 0;
  #refusals = 0;
  #calls = 0;
  #refused = 0;

  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  get isKnown(): boolean {
    return this.#usual !== undefined;
  }

  paced(rate: number): number {
    return this.#trial?.rate ?? rate;
  }

  /** @returns the traffic without refusals that come at any rate */
  update(
    traffic: Traffic,
    { now, passedMs, reactionMs }: UpdateTime,
    { rate, limit = 0, isWaiting }: SearchedRate,
  ): Traffic {
    const { accepted, rejected, unavailable = 0, waitUntil = 0 } = traffic;
    const calls = accepted + rejected + unavailable;
    this.#count(calls, rejected, limit);
    // The refusals of a limit that asks to wait would look random in a trial, because the limit fills up meanwhile.
    const isLimit = waitUntil > now && rejected > 0 && traffic.rejectedWith !== 503;
    if (isLimit || isWaiting) {
      this.#trial = undefined;
      this.#forget();
      return traffic;
    }
    this.#usual?.update(calls, rejected);
    if (this.#usual?.isOver) this.#usual = undefined;
    if (this.#trial !== undefined) this.#try(this.#trial, calls, rejected, passedMs);
    else if (this.#refusals >= severalRefused && rejected > 0 && rate < farBelow * this.#best)
      this.#trial = { rate: this.#best, calls: 0, refused: 0, ms: -2 * reactionMs - passedMs };
    const isStray = this.isTrying || (this.#usual?.isUsual ?? false);
    if (rejected === 0) return traffic;
    if (isStray) return withoutRefusals(traffic);
    this.#usual?.startOver();
    return traffic;
  }

  #count(calls: number, rejected: number, held: number): void {
    const kept = Math.exp(-calls / amongCalls);
    this.#calls = this.#calls * kept + calls;
    this.#refused = this.#refused * kept + rejected;
    if (this.#refused >= manyRefused && this.#refused >= (manyRefused / amongCalls) * this.#calls)
      this.#forget();
    this.#best = Math.max(this.#best, held);
    this.#sent += calls;
    if (rejected > 0 && this.#refused < single) this.#refusals += 1;
  }

  #forget(): void {
    this.#best = 0;
    this.#sent = 0;
    this.#refusals = 0;
  }

  #try(trial: Trial, calls: number, rejected: number, passedMs: number): void {
    const ms = trial.ms + passedMs;
    if (ms < 0) {
      this.#trial = { ...trial, ms };
      return;
    }
    const tried = { ...trial, calls: trial.calls + calls, refused: trial.refused + rejected, ms };
    this.#trial = tried;
    const isLimit = tried.refused >= clearly && tried.refused >= clearShare * tried.calls;
    if (!isLimit && (tried.calls < triedCalls || ms < triedMs) && ms < longestMs) return;
    this.#trial = undefined;
    if (!isLimit && tried.calls >= triedCalls)
      this.#usual = new UsualShare({ calls: this.#sent, failed: this.#refusals, deviations });
    this.#forget();
  }
}
