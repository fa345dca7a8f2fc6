import { isDeepStrictEqual } from 'node:util';
import { Governor, type Learned } from '../governor/governor.ts';
import type { Pace, Phase } from '../governor/pace.ts';
import { inUse } from '../governor/rates.ts';
import type { Traffic } from '../governor/traffic.ts';
import { type CallRate, callRate } from '../queue/call-rate.ts';
import type { CommonPolicy } from '../queue/rate-policy.ts';
import type { RowQueue } from '../queue/row-queue.ts';
import { RateKeeper } from './rate-keeper.ts';

/** How an API is called at the moment, by all workers together. */
export interface AppliedPace {
  /** Calls per second that are allowed; absent: as many as can be. */
  readonly rate?: number;
  /** Calls in flight that are allowed. */
  readonly concurrency: number;
  /** Until when no call may be made, of the steady clock. */
  readonly restUntil?: number;
  /** The limit of the API in calls per second, if it is known. */
  readonly learned?: number;
  readonly phase: Phase | 'fixed';
  /** Whether a 503 that does not ask to wait is no refusal. */
  readonly tolerates503: boolean;
  /** Why the rate is as it is, for people. */
  readonly reason: string;
  /** Whether the gates of the workers keep the rate, each an equal part of it, or the queue. */
  readonly gatesKeep: boolean;
  /** Where several gates keep it: when it was the turn of the first of them, of the steady clock. */
  readonly turnAt?: number;
}

/** What is known of an API before its first call. */
export interface StartingPoint extends Learned {
  /** Until when the API asked to wait, of the steady clock. */
  readonly waitUntil?: number;
}

/** Calls in flight to begin with, and the most that are ever tried: connections and memory are finite. */
export const usualConcurrency = 50;
export const mostConcurrency = 200;

/** A limit that the workers do not reach for so long is lifted: keeping it makes every row dearer for the datastore. */
const idleAfterMs = 2_000;

/** A Redis that has lost its data has lost the limit, too. */
const renewAfterMs = 1_000;

/**
 * Rests that end by themselves soon, and those of other workers that are not heard of yet. Who is not governed may have
 * been told to wait by no answer at all, and then waits for up to 30 s.
 */
const unheardMs = { auto: 5_000, fixed: 35_000 };

/** Governs the calls of one API: tells the governor what they meet with, and the queue what it decides. */
export class Steering {
  readonly #queue: RowQueue;
  readonly #governor: Governor;
  #rate: { readonly rate: CallRate | undefined; readonly at: number } | undefined;
  #restUntil = 0;
  #pausedAt = 0;
  #restSeenAt = 0;
  #restsTooLong = false;
  readonly #keeper: RateKeeper;
  #lookedAt: number;
  #idleSince: number;
  #sentPerSecond = 0;

  constructor(queue: RowQueue, now: number, { waitUntil, ...learned }: StartingPoint) {
    this.#queue = queue;
    this.#keeper = new RateKeeper(now);
    this.#lookedAt = now;
    this.#idleSince = now;
    this.#governor = new Governor(now, {
      concurrency: { start: usualConcurrency, most: mostConcurrency },
      learned,
      ...(waitUntil !== undefined && { resumeWaitUntil: waitUntil }),
    });
  }

  /** @param workers that call the API */
  async steer(now: number, traffic: Traffic, policy: CommonPolicy, workers: number): Promise<AppliedPace> {
    this.#governor.bound = policy.perSecond;
    const pace = this.#governor.update(now, traffic);
    if (!policy.auto) {
      await this.#setRate(now, policy.perSecond);
      await this.#endUnwanted(now, traffic.waitUntil ?? now, unheardMs.fixed);
      const reason = policy.perSecond === undefined ? 'no limit is wanted' : 'as it was asked for';
      return {
        ...(policy.perSecond !== undefined && { rate: policy.perSecond }),
        concurrency: policy.perSecond === undefined ? usualConcurrency : pace.concurrency,
        ...(traffic.waitUntil !== undefined && { restUntil: traffic.waitUntil }),
        phase: 'fixed',
        tolerates503: false,
        reason,
        gatesKeep: false,
      };
    }
    const most = policy.perSecond ?? Number.POSITIVE_INFINITY;
    const { asked, ...kept } = this.#keeper.update(now, traffic, pace, { workers, most });
    const isIdle = this.#isIdle(now, traffic, pace);
    await this.#setRate(now, isIdle ? policy.perSecond : asked);
    await this.#rest(now, pace.restUntil ?? 0);
    await this.#endUnwanted(now, pace.restUntil ?? now, unheardMs.auto);
    return { ...pace, ...kept };
  }

  /** Whether no limit is known and the workers do not use what they may: something else is what limits them. */
  #isIdle(now: number, { accepted, rejected }: Traffic, { phase, rate }: Pace): boolean {
    const sent = accepted + rejected;
    const seconds = (now - this.#lookedAt) / 1_000;
    this.#lookedAt = now;
    this.#sentPerSecond += (sent / Math.max(seconds, 0.001) - this.#sentPerSecond) * Math.min(1, seconds);
    const isUsed = this.#sentPerSecond > inUse * rate;
    // Who has no rows is not slowed down.
    if (phase !== 'starting' || rejected > 0 || isUsed || this.#sentPerSecond < 1) this.#idleSince = now;
    return now - this.#idleSince >= idleAfterMs;
  }

  /** Renewed as the rate is: who pauses the queue for a shorter while leaves no more than that. */
  async #rest(now: number, until: number): Promise<void> {
    if (until <= now || (until <= this.#restUntil && now - this.#pausedAt < renewAfterMs)) return;
    await this.#queue.pauseFor(until - now);
    this.#restUntil = until;
    this.#pausedAt = now;
  }

  /** A server whose clock was set back lets everybody rest for longer than anybody wants: that is seen to. */
  async #endUnwanted(now: number, wantedUntil: number, unheard: number): Promise<void> {
    if (now - this.#restSeenAt < renewAfterMs) return;
    this.#restSeenAt = now;
    const wantedMs = Math.max(wantedUntil - now, this.#rate?.rate?.perMs ?? 0);
    const isTooLong = (await this.#queue.restingFor()) > wantedMs + unheard;
    if (isTooLong && this.#restsTooLong) {
      await this.#queue.endRest();
      if (wantedUntil > now) await this.#queue.pauseFor(wantedUntil - now);
    }
    // One that was not there before may be news that has not come yet.
    this.#restsTooLong = isTooLong;
  }

  async #setRate(now: number, perSecond: number | undefined): Promise<void> {
    const known = this.#rate;
    const rate = perSecond === undefined ? undefined : callRate(perSecond);
    if (known !== undefined && now - known.at < renewAfterMs && isDeepStrictEqual(known.rate, rate)) return;
    await this.#queue.setRate(rate);
    this.#rate = { rate, at: now };
  }
}
