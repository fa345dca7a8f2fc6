import { rateTtlMs, type SlotReply } from '../cluster/timeline.ts';
import { HeldSlots } from './held-slots.ts';
import { ServerClock } from './server-clock.ts';
import { TimelineVisits, type Visit, type VisitTiming, type WorkerSituation } from './timeline-visits.ts';

/** Before a longer rest, rows are handed back: other workers can take them, and no burst follows. */
export const patienceMs = 150;

/** Calls wait this long after a refusal: the leader decides meanwhile what it means. */
const considerMs = 50;
/** How much earlier than necessary an intent is written, because timers are late. */
const spareLeadMs = 5;
const firstLeadMs = 30;
/** Bounds the slots that a slow datastore costs: a row with an intent and no call is unclear when its worker dies. */
const mostLeadMs = 100;
const leadOverMs = 5_000;

/**
 * The share of places with intents written ahead, so that no place is empty during a write. These rows count as possibly called when this
 * process dies.
 */
const writtenAhead = 0.2;

export interface PendingCalls {
  readonly waiting: number;
  readonly ready: number;
}

export interface Step {
  /** Write the intents of this many waiting rows. */
  readonly reserved: number;
  readonly admitted: number;
  /** Pass its reply to `replied`. */
  readonly visit?: Visit;
  /** When to call `step` again, unless a call begins or ends earlier. */
  readonly wakeAt: number;
}

/**
 * Decides when the calls of one worker leave: pure, on the clock of the caller.
 *
 * ```
 *   waiting ──▶ reserved ──────▶ ready ──▶ active
 *             a slot is near,   intent   the time of a slot
 *             or a place free   written  has come
 * ```
 *
 * A row gets its turn early enough to have its intent written at the time of the slot: late calls would be too many in some second. Turns
 * belong to no slot: a late row takes the next slot. There are never more turns than near slots, nor than places.
 */
export class CallScheduler {
  /** The user's number for this process; undefined: as many as granted. */
  readonly #wanted: number | undefined;
  readonly #timing: VisitTiming;
  readonly #slots: HeldSlots;
  readonly #visits: TimelineVisits;
  readonly #clock = new ServerClock();
  #active = 0;
  #reserved = 0;
  #slowestMs = firstLeadMs - spareLeadMs;
  #slowestAt = Number.NEGATIVE_INFINITY;
  #places = 0;
  #gap: number | undefined;
  #permittedUntil = Number.NEGATIVE_INFINITY;
  #restUntil = Number.NEGATIVE_INFINITY;
  #ownRestUntil = Number.NEGATIVE_INFINITY;
  #waitingSince = Number.POSITIVE_INFINITY;

  constructor(options: {
    readonly timing: VisitTiming;
    readonly concurrency?: number | undefined;
    readonly random: () => number;
  }) {
    this.#timing = options.timing;
    this.#slots = new HeldSlots(options.timing.lateUse);
    this.#visits = new TimelineVisits(options.timing, options.random);
    this.#wanted = options.concurrency;
  }

  /** As of the last visit. */
  elsewhere = 0;

  get callers(): number {
    return this.#visits.callers;
  }

  get active(): number {
    return this.#active;
  }

  get reserved(): number {
    return this.#reserved;
  }

  get places(): number {
    return this.#wanted ?? this.#places;
  }

  get restUntil(): number {
    return Math.max(this.#restUntil, this.#ownRestUntil);
  }

  /**
   * Holds all calls until the asked wait is over and the meaning of the refusal is known. Where a rate is kept, the latter costs at most
   * one slot: an API that refuses half of all calls at any rate would otherwise block calls forever.
   */
  refused(now: number, waitUntil: number): void {
    const moment = Math.min(
      considerMs,
      this.#gap === undefined ? considerMs : this.#timing.refusedGaps * this.#gap,
    );
    this.#ownRestUntil = Math.max(this.#ownRestUntil, waitUntil, now + moment);
  }

  setCommonRest(until: number): void {
    this.#restUntil = until;
  }

  forgetOwnRest(): void {
    this.#ownRestUntil = Number.NEGATIVE_INFINITY;
  }

  written(now: number, tookMs: number): void {
    const weight = Math.exp(-(now - this.#slowestAt) / leadOverMs);
    this.#slowestMs = Math.max(tookMs, this.#slowestMs * weight + tookMs * (1 - weight));
    this.#slowestAt = now;
  }

  released(rows: number): void {
    this.#reserved -= rows;
  }

  /** @param admittedAt absent for a repeated call */
  sent(now: number, admittedAt?: number): void {
    if (this.#gap !== undefined) this.#slots.sent(now, admittedAt);
  }

  ended(durationMs: number): void {
    this.#active -= 1;
    this.#visits.ended(durationMs);
  }

  step(now: number, { waiting, ready }: PendingCalls): Step {
    if (waiting + ready === 0) this.#waitingSince = Number.POSITIVE_INFINITY;
    else this.#waitingSince = Math.min(this.#waitingSince, now);
    const lost = this.#slots.drop(now, this.restUntil);
    // A worker that is late for many of its slots still needs them.
    this.#visits.used(now, ready > 0 && this.#active < this.places ? lost : 0);
    let admitted = 0;
    while (admitted < ready && this.#mayCall(now)) {
      this.#active += 1;
      this.#reserved -= 1;
      admitted += 1;
    }
    this.#visits.used(now, admitted);
    const reserved = Math.max(0, Math.min(waiting, this.#turns(now) - this.#reserved));
    this.#reserved += reserved;
    const pending = { waiting: waiting - reserved, ready: ready - admitted };
    const situation = this.#situation(pending);
    const visit = this.#visits.next(now, situation);
    const wakeAt = this.#wakeAt(now, pending, situation);
    return visit === undefined ? { reserved, admitted, wakeAt } : { reserved, admitted, visit, wakeAt };
  }

  replied(sentAt: number, now: number, reply: SlotReply): void {
    this.#clock.measure(sentAt, now, reply.now);
    if (!this.#visits.replied(sentAt, now, reply.count)) return;
    // A worker that had nothing to call may have missed decisions: it must ask again first.
    const isPermitted = reply.isSet && !this.#visits.hasLeft;
    this.#permittedUntil = isPermitted ? sentAt + rateTtlMs : Number.NEGATIVE_INFINITY;
    this.#places = reply.places;
    this.elsewhere = reply.elsewhere;
    this.#visits.callers = reply.callers;
    this.#gap = reply.gap;
    this.#restUntil = reply.restMs > 0 ? this.#clock.localTime(reply.now) + reply.restMs : 0;
    if (reply.gap === undefined) {
      this.#slots.clear();
      return;
    }
    this.#slots.thinOut(reply.gap);
    // Slots that arrive later are lost.
    if (reply.count > 0 && now - sentAt <= this.#visits.aheadMs(this.#leadMs))
      this.#slots.add(this.#clock.localTime(reply.from), reply.gap, reply.count);
  }

  #mayCall(now: number): boolean {
    if (now >= this.#permittedUntil || now < this.restUntil || this.#active >= this.places) return false;
    return this.#gap === undefined || this.#slots.use(now);
  }

  #turns(now: number): number {
    if (now >= this.#permittedUntil) return 0;
    if (this.#gap !== undefined) return Math.min(this.places, this.#slots.countUntil(now + this.#leadMs));
    return now < this.restUntil ? 0 : this.#mostBusy - this.#active;
  }

  /** The most rows in hand while no rate is kept. */
  get #mostBusy(): number {
    return this.places + Math.ceil(this.places * writtenAhead);
  }

  /** How long before its slot an intent is written. */
  get #leadMs(): number {
    return Math.min(this.#slowestMs + spareLeadMs, mostLeadMs);
  }

  #situation({ waiting }: PendingCalls): WorkerSituation {
    return {
      uncalled: waiting + this.#reserved,
      reserved: this.#reserved,
      active: this.#active,
      places: this.places,
      wanted: this.#wanted ?? Number.POSITIVE_INFINITY,
      slots: this.#slots.count,
      isRateKept: this.#gap !== undefined,
      leadMs: this.#leadMs,
      readySince: Math.max(this.#waitingSince, this.restUntil),
    };
  }

  #wakeAt(now: number, pending: PendingCalls, situation: WorkerSituation): number {
    const visitAt = this.#visits.nextAt(situation);
    if (now >= this.#permittedUntil) return visitAt;
    return Math.min(visitAt, this.#callAt(now, pending), this.#reserveAt(pending));
  }

  #callAt(now: number, { ready }: PendingCalls): number {
    if (ready === 0 || this.#active >= this.places) return Number.POSITIVE_INFINITY;
    return this.#gap === undefined ? this.restUntil : this.#slots.nextAt(now);
  }

  #reserveAt({ waiting }: PendingCalls): number {
    if (waiting === 0) return Number.POSITIVE_INFINITY;
    if (this.#gap === undefined)
      return this.#active + this.#reserved < this.#mostBusy ? this.restUntil : Number.POSITIVE_INFINITY;
    return this.#reserved < this.places
      ? this.#slots.at(this.#reserved) - this.#leadMs
      : Number.POSITIVE_INFINITY;
  }
}
