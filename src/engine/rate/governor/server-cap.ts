import { AcceptedCalls, CapTrial } from './cap-trial.ts';
import { Backoff } from './probe-backoff.ts';
import { longWaitMs } from './quota-exhaustion.ts';
import type { Traffic } from './traffic.ts';

/** A first refusal within this time may show a cap (concurrency:limit=10; three workers with a cap of 3); later two are needed. */
const firstWithinMs = 20_000;
/** The calls in flight of other workers are not known well enough before. */
const reportedAfterMs = 1_000;
/** Refusals closer together have one cause. */
const apartMs = 500;
/** With this share fewer calls in flight, the cap was not the cause. */
const farBelow = 0.3;
/** A cap lowered more often within this time is not a cap. It is lowered by this share: more steps would cost refusals (three workers). */
const loweredAtMost = 5;
const loweredWithinMs = 10_000;
const lowered = 1 / 6;
/** The most unreported calls of other workers to assume (three workers, a cap of 3, of 10). */
const mostUnreported = 2;
/**
 * This many refusals during a trial, if more than half of the calls, show a limited rate. Reports of earlier calls arrive for this many
 * reactions (the first seconds of two and three workers).
 */
const clearly = 5;
const lateReactions = 1.5;

export interface Circumstances {
  readonly limit: number;
  /** Calls/s. */
  readonly sentPerSecond: number;
  readonly reactionMs: number;
  readonly isStated: boolean;
}

/**
 * Finds how many calls an API accepts at once, if it limits those. Such an API refuses exactly the calls that are sent while many are in
 * flight; an API that limits the rate accepts others among equally many. On trial, one call fewer is in flight, and the rate is free to
 * rise.
 *
 * ```
 *              the first refusal, or             as many calls are
 *     free ─────────────────────────▶ on trial ────────────────────▶ known ──┐ tries more from time to time,
 *      ▲    two among the most so far    │        accepted as before    ▲    │ goes back when that is refused
 *      │                                 │ fewer are, or calls          └────┘
 *      └── suspects nothing for a while ◀┘ are refused
 * ```
 */
export class ServerCap {
  readonly #begunAt: number;
  #value: number | undefined;
  /** Confirmed by a trial. */
  #confirmedCap: number | undefined;
  #confirmedSince = 0;
  #limitBefore = 0;
  #trial: CapTrial | undefined;
  #countsFrom = 0;
  #acceptedCalls = 0;
  #refusedCalls = 0;
  #hasTried = false;
  #climb: AdditiveIncrease;
  #suspicion: { readonly at: number; readonly among: number } | undefined;
  #lowered: number[] = [];
  readonly #memory: AcceptedCalls;
  readonly #backoff = new Backoff();

  constructor(now: number) {
    this.#begunAt = now;
    this.#climb = new AdditiveIncrease(now);
    this.#memory = new AcceptedCalls(now);
  }

  get value(): number | undefined {
    return this.#value;
  }

  get isTrying(): boolean {
    return this.#trial !== undefined;
  }

  /** The next refusal is no longer the first unexplained one. */
  ruleOutFirst(): void {
    this.#hasTried = true;
  }

  /** @returns how many calls may be in flight */
  update(now: number, traffic: Traffic, circumstances: Circumstances): number {
    let limit = this.#judgeTrial(now, traffic.accepted, circumstances.limit);
    if (now > this.#countsFrom) {
      this.#acceptedCalls += traffic.accepted;
      this.#refusedCalls += traffic.rejected;
    }
    if (traffic.rejected > 0 && traffic.rejectedAmong !== undefined)
      limit = this.#explain(now, traffic.rejectedAmong, traffic, { ...circumstances, limit });
    this.#memory.update(now, traffic, circumstances.reactionMs);
    return limit;
  }

  step(now: number, limit: number): number {
    if (this.#value === undefined || this.#trial !== undefined) return limit;
    const whole = Math.floor(limit);
    const next = this.#climb.nextValue(now, this.#value, whole);
    if (next === undefined) return limit;
    this.#value = Math.max(this.#value, whole);
    return next;
  }

  #explain(now: number, among: number, traffic: Traffic, circumstances: Circumstances): number {
    const { rejectedSentAt = now, amongError = 0, waitUntil = 0 } = traffic;
    const { limit, reactionMs } = circumstances;
    const value = this.#value;
    if (value === undefined && circumstances.isStated) return limit;
    // A long wait means that an allowance is used up.
    if (waitUntil > now + longWaitMs) return value === undefined ? limit : this.#giveUp(now, limit);
    if (value === undefined) return this.#suspect(now, among, traffic, circumstances);
    const isExact = amongError <= 1;
    const isClear = this.#refusedCalls >= clearly && this.#refusedCalls > this.#acceptedCalls;
    if (this.#trial !== undefined && isClear) return this.#giveUp(now, limit);
    if (this.#trial !== undefined && isExact && among < value - Math.max(amongError, farBelow * value))
      return this.#giveUp(now, limit);
    if (rejectedSentAt <= this.#confirmedSince + reactionMs) {
      // The first reported refusal was not the one with the fewest calls in flight.
      if (this.#trial === undefined || !isExact) return limit;
      this.#value = Math.max(1, Math.min(value, among - 1));
      return this.#value;
    }
    if (limit > value && among > value - amongError) {
      this.#climb.noteRefusal(now);
      this.#confirmedSince = now;
      return value;
    }
    this.#lowered = this.#lowered.filter((at) => at > now - loweredWithinMs);
    // With exact counts a refusal is no accident. Where each costs a wait, the search does not wait for a second.
    const isCertain = this.#trial !== undefined && (isExact || waitUntil > now);
    if (isCertain || this.#lowered.length >= loweredAtMost || value <= 1) return this.#giveUp(now, limit);
    this.#lowered.push(now);
    const less = Math.max(1, Math.floor(lowered * value));
    return this.#try(now, value - less, this.#memory.perSecond, { reactionMs, waitUntil });
  }

  #suspect(now: number, among: number, traffic: Traffic, circumstances: Circumstances): number {
    const { amongError: error = 0, waitUntil = 0 } = traffic;
    const { limit, sentPerSecond, reactionMs } = circumstances;
    const { mostInFlight, perSecond } = this.#memory;
    const isFirst = !this.#hasTried && now < this.#begunAt + firstWithinMs;
    // Calls that seem accepted among many may have been accepted among fewer, and one call may not be reported yet.
    const unreported = isFirst ? error - 1 : 0;
    const isReported = error <= 1 || now >= this.#begunAt + reportedAfterMs;
    // With this few calls in flight, such an error says little.
    const isEnough = among > (isFirst ? 1 : 2 * error);
    const isCredible = isReported && isEnough && among > mostInFlight - 2 * error - unreported;
    if (this.#backoff.lasts(now) || !isCredible) {
      this.#suspicion = undefined;
      return limit;
    }
    const last = this.#suspicion;
    if (last !== undefined && now - last.at < apartMs) return limit;
    this.#suspicion = { at: now, among };
    let fewest = among;
    if (!isFirst) {
      if (last === undefined) return limit;
      fewest = Math.min(last.among, among);
    }
    this.#suspicion = undefined;
    this.#hasTried = true;
    this.#limitBefore = limit;
    // The count lacks the latest calls of other workers.
    const isUncertain = isFirst || fewest <= 2 * error;
    const added = isUncertain ? Math.min(Math.max(0, error - 1), mostUnreported) : 0;
    const usual = isFirst ? sentPerSecond : perSecond;
    return this.#try(now, Math.max(1, fewest - 1 + added), usual, { reactionMs, waitUntil });
  }

  #try(
    now: number,
    value: number,
    usual: number,
    { reactionMs, waitUntil }: { readonly reactionMs: number; readonly waitUntil: number },
  ): number {
    const from = Math.max(now, waitUntil);
    if (this.#trial === undefined) {
      this.#countsFrom = from + lateReactions * reactionMs;
      this.#acceptedCalls = 0;
      this.#refusedCalls = 0;
    }
    this.#trial = new CapTrial(from, Math.max(usual, this.#trial?.usualRate ?? 0), reactionMs);
    this.#value = value;
    this.#confirmedSince = now;
    return value;
  }

  #judgeTrial(now: number, accepted: number, limit: number): number {
    const isConfirmed = this.#trial?.update(now, accepted);
    if (isConfirmed === undefined) return limit;
    this.#trial = undefined;
    if (isConfirmed) {
      this.#confirmedCap = this.#value;
      this.#climb = new AdditiveIncrease(now);
    } else if (this.#confirmedCap === undefined) return this.#giveUp(now, limit);
    else this.#value = this.#confirmedCap;
    return this.#value ?? limit;
  }

  #giveUp(now: number, limit: number): number {
    this.#value = undefined;
    this.#confirmedCap = undefined;
    this.#trial = undefined;
    this.#backoff.begin(now);
    return Math.max(limit, this.#limitBefore);
  }
}

/** The pause before one call more than the known number is tried; shorter after a success (a cap that rises). */
const afterMs = 15_000;
const againMs = 2_000;
const largestStep = 0.25;

export class AdditiveIncrease {
  #nextStepAt: number;
  #more = 1;

  constructor(now: number) {
    this.#nextStepAt = now + againMs;
  }

  /**
   * @param value known to be accepted at once
   * @param limit calls that may be in flight, and went well until now
   * @returns undefined: no change
   */
  nextValue(now: number, value: number, limit: number): number | undefined {
    if (now < this.#nextStepAt) return undefined;
    if (limit > value) this.#more = Math.min(2 * this.#more, Math.max(1, Math.floor(value * largestStep)));
    this.#nextStepAt = now + againMs;
    return Math.max(value, limit) + this.#more;
  }

  noteRefusal(now: number): void {
    this.#nextStepAt = now + (this.#more > 1 ? againMs : afterMs);
    this.#more = Math.max(1, Math.floor(this.#more / 2));
  }
}
