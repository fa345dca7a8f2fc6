import { Mistrust } from './mistrust.ts';
import type { Traffic } from './traffic.ts';

/** What was accepted among how many is remembered for so long. */
const memoryMs = 10_000;
/** Nothing is suspected before it is known how many calls are accepted usually. */
const acquaintedMs = 5_000;
/** Calls accepted per second are a mean of so long. */
const meanMs = 3_000;
/** Refusals that are closer together have one reason. */
const apartMs = 500;
/** A suspicion is tried for so long, and for so many times the reaction; what counts is the second half. */
const trialMs = 2_000;
const trialReactions = 8;
/** Where calls in flight are what is limited, fewer of them lose less than that. */
const confirmed = 0.92;
/** A cap that has to be lowered more often within the memory is none. */
const loweredAtMost = 3;
/** After such a time one more is tried than the API accepted at once, and after a shorter one where that went well. */
const tryMoreAfterMs = 15_000;
const tryMoreAgainMs = 2_000;
/** Calls that were rejected are in flight for a while, too, but the API does not count them. */
const uncountedMs = 200;

interface Sighting {
  readonly at: number;
  readonly among: number;
}

interface Trial {
  readonly halfAt: number;
  readonly endsAt: number;
  /** Calls accepted per second before. */
  readonly usual: number;
  /** Since when calls are counted, and how many were accepted. */
  countedFrom: number | undefined;
  accepted: number;
}

/**
 * Finds how many calls an API accepts at once, if it limits those. It refuses exactly the calls that are sent while
 * many are in flight; one that limits the rate refuses some and accepts others among equally many.
 *
 *              two refusals among             as many calls are
 *     free ──────────────────────▶ on trial ────────────────────▶ known ──┐ tries one more from time to time,
 *      ▲       the most so far        │        accepted as before    ▲    │ goes back when that is refused
 *      │                              │ fewer are, or calls          └────┘
 *      └── suspects nothing for a while  among fewer are refused ◀──┘
 */
export class CrowdCap {
  readonly #begunAt: number;
  #updatedAt: number;
  #value: number | undefined;
  /** The one that was confirmed by a trial. */
  #known: number | undefined;
  #since = 0;
  /** The limit before a cap was suspected. */
  #before = 0;
  #trial: Trial | undefined;
  #suspicion: Sighting | undefined;
  #lowered: number[] = [];
  #triedMoreAt = 0;
  /** After a cap was suspected wrongly, none is for a while. */
  readonly #mistrust = new Mistrust();
  #unreliableUntil = Number.NEGATIVE_INFINITY;
  #accepted: Sighting[] = [];
  #perSecond = 0;

  constructor(now: number) {
    this.#begunAt = now;
    this.#updatedAt = now;
  }

  /** Calls that the API accepts at once, while that is what it refuses for. */
  get value(): number | undefined {
    return this.#value;
  }

  /**
   * @param limit calls that may be in flight
   * @param reactionMs how long it takes until a decision shows
   * @returns how many may be from now on, and whether calls were rejected because they were more than the cap.
   */
  update(
    now: number,
    traffic: Traffic,
    limit: number,
    reactionMs: number,
  ): { readonly limit: number; readonly explained: boolean } {
    const { accepted, rejected, rejectedAmong, acceptedAmong } = traffic;
    const value = this.#value;
    let next = this.#judgeTrial(now, accepted, limit);
    const isMore = value !== undefined && limit > value && (rejectedAmong ?? 0) > value;
    if (rejected > 0 && rejectedAmong !== undefined)
      next = this.#explain(now, rejectedAmong, traffic, next, reactionMs);
    const explained = rejected > 0 && this.#value !== undefined && (isMore || this.#trial !== undefined);
    if (rejected > 0) this.#unreliableUntil = now + Math.max(uncountedMs, 2 * reactionMs);
    if (acceptedAmong !== undefined && now >= this.#unreliableUntil)
      this.#accepted.push({ at: now, among: acceptedAmong });
    while ((this.#accepted[0]?.at ?? now) < now - memoryMs) this.#accepted.shift();
    const passed = now - this.#updatedAt;
    this.#updatedAt = now;
    const kept = Math.exp(-passed / meanMs);
    this.#perSecond = this.#perSecond * kept + (accepted * 1_000) / meanMs;
    return { limit: next, explained };
  }

  /** Tries more from time to time. @returns the limit from now on. */
  step(now: number, limit: number, most: number): number {
    const value = this.#value;
    if (value === undefined || this.#trial !== undefined || now - this.#triedMoreAt < tryMoreAfterMs)
      return limit;
    this.#triedMoreAt = now;
    const whole = Math.max(1, Math.floor(limit));
    if (limit > value) {
      // It went well so far: soon still more.
      this.#value = whole;
      this.#triedMoreAt = now - tryMoreAfterMs + tryMoreAgainMs;
    }
    return Math.min(most, whole + Math.max(1, Math.floor(value / 10)));
  }

  #explain(now: number, among: number, traffic: Traffic, limit: number, reactionMs: number): number {
    const { rejectedSentAt = now, amongError = 0 } = traffic;
    const value = this.#value;
    if (value === undefined) return this.#suspect(now, among, amongError, limit, reactionMs);
    if (rejectedSentAt <= this.#since + reactionMs) return limit;
    if (among > value && limit > value - amongError) {
      this.#triedMoreAt = now;
      this.#since = now;
      return value;
    }
    this.#lowered = this.#lowered.filter((at) => at > now - memoryMs);
    if (this.#lowered.length >= loweredAtMost || value <= 1) return this.#giveUp(now, limit);
    this.#lowered.push(now);
    return this.#try(Math.max(1, Math.min(value, amongError === 0 ? among : value) - 1), now, reactionMs);
  }

  /** Two refusals at the same crowd, and none accepted among so many, are a cap. */
  #suspect(now: number, among: number, error: number, limit: number, reactionMs: number): number {
    const most = this.#accepted.reduce((highest, accepted) => Math.max(highest, accepted.among), 0);
    if (this.#mistrust.lasts(now) || now < this.#begunAt + acquaintedMs) return limit;
    // Among so few, what is off by so much tells nothing.
    if (most === 0 || among <= most - 2 * error || among <= 2 * error) {
      this.#suspicion = undefined;
      return limit;
    }
    const before = this.#suspicion;
    if (before !== undefined && now - before.at < apartMs) return limit;
    this.#suspicion = { at: now, among };
    const difference = Math.abs((before?.among ?? Number.POSITIVE_INFINITY) - among);
    if (before === undefined || difference > Math.max(1 + 2 * error, 0.1 * among)) return limit;
    this.#suspicion = undefined;
    this.#before = limit;
    return this.#try(Math.max(1, Math.max(before.among, among) - 1), now, reactionMs);
  }

  #try(value: number, now: number, reactionMs: number): number {
    const halfMs = (trialMs + trialReactions * reactionMs) / 2;
    const usual = Math.max(this.#perSecond, this.#trial?.usual ?? 0);
    this.#trial = {
      halfAt: now + halfMs,
      endsAt: now + 2 * halfMs,
      usual,
      countedFrom: undefined,
      accepted: 0,
    };
    this.#value = value;
    this.#since = now;
    this.#triedMoreAt = now;
    return value;
  }

  #judgeTrial(now: number, accepted: number, limit: number): number {
    const trial = this.#trial;
    if (trial === undefined || now < trial.halfAt) return limit;
    if (trial.countedFrom === undefined) trial.countedFrom = now;
    else trial.accepted += accepted;
    if (now < trial.endsAt || now === trial.countedFrom) return limit;
    this.#trial = undefined;
    const perSecond = (trial.accepted * 1_000) / (now - trial.countedFrom);
    if (perSecond >= confirmed * trial.usual) this.#known = this.#value;
    else if (this.#known === undefined) return this.#giveUp(now, limit);
    else this.#value = this.#known;
    return this.#value ?? limit;
  }

  #giveUp(now: number, limit: number): number {
    this.#value = undefined;
    this.#known = undefined;
    this.#trial = undefined;
    this.#mistrust.begin(now);
    return Math.max(limit, this.#before);
  }
}
