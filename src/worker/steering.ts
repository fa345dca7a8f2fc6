import { Governor, type Learned } from '../governor/governor.ts';
import type { Phase } from '../governor/pace.ts';
import type { Traffic } from '../governor/traffic.ts';
import { callRate } from '../queue/call-rate.ts';
import type { CommonPolicy } from '../queue/rate-policy.ts';
import type { RowQueue } from '../queue/row-queue.ts';

/** How an API is called at the moment, by all workers together. */
export interface AppliedPace {
  /** Calls per second that are allowed; absent: as many as can be. */
  readonly rate?: number;
  /** Calls in flight that are allowed. */
  readonly concurrency: number;
  /** Until when no call may be made, milliseconds since 1970. */
  readonly restUntil?: number;
  /** The limit of the API in calls per second, if it is known. */
  readonly learned?: number;
  readonly phase: Phase | 'fixed';
  /** Why the rate is as it is, for people. */
  readonly reason: string;
}

/** What is known of an API before its first call. */
export interface StartingPoint extends Learned {
  /** Until when the API asked to wait, milliseconds since 1970. */
  readonly waitUntil?: number;
}

/** Calls in flight to begin with, and the most that are ever tried: connections and memory are finite. */
export const usualConcurrency = 50;
export const mostConcurrency = 200;

/** A smaller change is not worth a command. */
const noticeableChange = 0.003;
/** A Redis that has lost its data has lost the limit, too. */
const renewAfterMs = 1_000;

/** Governs the calls of one API: tells the governor what they meet with, and the queue what it decides. */
export class Steering {
  readonly #queue: RowQueue;
  readonly #governor: Governor;
  #rate: { readonly perSecond: number | undefined; readonly at: number } | undefined;
  #restUntil = 0;
  /** What an earlier run was asked to wait, until it is passed on. */
  #waitUntil: number | undefined;

  constructor(queue: RowQueue, now: number, { waitUntil, ...learned }: StartingPoint) {
    this.#queue = queue;
    this.#waitUntil = waitUntil;
    this.#governor = new Governor(now, {
      concurrency: { start: usualConcurrency, most: mostConcurrency },
      learned,
    });
  }

  async steer(now: number, traffic: Traffic, policy: CommonPolicy): Promise<AppliedPace> {
    this.#governor.bound = policy.perSecond;
    const waitUntil = policy.auto ? this.#waitUntil : undefined;
    this.#waitUntil = undefined;
    const pace = this.#governor.update(now, waitUntil === undefined ? traffic : { waitUntil, ...traffic });
    if (!policy.auto) {
      await this.#setRate(now, policy.perSecond);
      const reason = policy.perSecond === undefined ? 'no limit is wanted' : 'as it was asked for';
      return {
        ...(policy.perSecond !== undefined && { rate: policy.perSecond }),
        concurrency: policy.perSecond === undefined ? usualConcurrency : pace.concurrency,
        ...(traffic.waitUntil !== undefined && { restUntil: traffic.waitUntil }),
        phase: 'fixed',
        reason,
      };
    }
    await this.#setRate(now, pace.rate);
    if (pace.restUntil !== undefined && pace.restUntil > this.#restUntil) {
      this.#restUntil = pace.restUntil;
      await this.#queue.pauseFor(pace.restUntil - now);
    }
    return pace;
  }

  async #setRate(now: number, perSecond: number | undefined): Promise<void> {
    const known = this.#rate;
    if (known !== undefined && now - known.at < renewAfterMs && isAlike(known.perSecond, perSecond)) return;
    await this.#queue.setRate(perSecond === undefined ? undefined : callRate(perSecond));
    this.#rate = { perSecond, at: now };
  }
}

function isAlike(one: number | undefined, other: number | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return Math.abs(one / other - 1) < noticeableChange;
}
