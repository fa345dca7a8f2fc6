import { rateTtlMs, type SlotReply } from '../cluster/timeline.ts';
import { HeldSlots } from './held-slots.ts';
import { ServerClock } from './server-clock.ts';
import { TimelineVisits, type Visit, type VisitTiming, type WorkerSituation } from './timeline-visits.ts';

/**
 * A rest that is longer is not waited for with a row in hand: others must be able to take it back, and what gathers here
 * meanwhile would go out in a burst.
 */
export const patienceMs = 150;

/** What a refusal means is known after the next beat of whoever leads, or soon. */
const considerMs = 50;
/** Rows are written down before their slots by as much as the slowest of late took, and by that for timers that are late. */
const spareLeadMs = 5;
/** Nobody knows yet how long it takes. */
const firstLeadMs = 30;
/** A datastore that takes longer costs slots: rows that are written down and not called are unclear when a worker dies. */
const mostLeadMs = 100;
/** How soon it is forgotten that one took long. */
const leadOverMs = 5_000;

/**
 * So many rows for each place are written down while it is in use: else it would stand empty for as long as that takes. They
 * count as perhaps called when this process dies.
 */
const writtenAhead = 0.2;

/** Rows that want to be called. */
export interface PendingCalls {
  /** They have no turn yet. */
  readonly waiting: number;
  /** They have one, and are written down. */
  readonly ready: number;
}

/** What to do now. */
export interface Step {
  /** So many of those that wait get a turn: they are to be written down. */
  readonly reserved: number;
  /** So many of those that are ready go out. */
  readonly admitted: number;
  /** To be asked of the timeline; the answer goes to `replied`. */
  readonly visit?: Visit;
  /** When to ask again, unless a call comes or ends before; infinite: then only. */
  readonly wakeAt: number;
}

/**
 * When the calls of one worker go out: pure, on the clock of whoever asks.
 *
 * ```
 *   waiting ──▶ reserved ──────▶ ready ──▶ active
 *             a slot is near,   written  the time of a slot
 *             or a place free   down     has come
 * ```
 *
 * A row gets its turn so long before a slot that it is written down when the time of the slot comes: writing it down takes
 * now more, now less time, and calls that leave by that much later would be too many in some second. Turns are counted,
 * and belong to no slot: a row that is late takes the next one. There are no more turns than slots that are near, nor than
 * places in flight. Where no rate is kept, a few rows are written down before their places are free.
 */
export class CallScheduler {
  /** Calls in flight that the user wants in this process, whatever the others do; undefined: as many as it is given. */
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
  /** Since when there is always something that wants to be called. */
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

  /** Calls that other workers have in flight, as the timeline knew it a moment ago. */
  elsewhere = 0;

  /** Workers that want to call, this one included if it does. */
  get callers(): number {
    return this.#visits.callers;
  }

  /** Calls in flight. */
  get active(): number {
    return this.#active;
  }

  /** Rows that have a turn, and are not called yet. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Calls that may be in flight. */
  get places(): number {
    return this.#wanted ?? this.#places;
  }

  /** Until when no call goes out because the API asked for it, or because what a refusal means is not clear yet. */
  get restUntil(): number {
    return Math.max(this.#restUntil, this.#ownRestUntil);
  }

  /**
   * A call was refused: none goes out before the API wants it, nor before it is clear what that means. Where a rate is kept
   * that costs a slot at most: an API that refuses half of all calls at any rate would else hold them up for good.
   */
  refused(now: number, waitUntil: number): void {
    const moment = Math.min(
      considerMs,
      this.#gap === undefined ? considerMs : this.#timing.refusedGaps * this.#gap,
    );
    this.#ownRestUntil = Math.max(this.#ownRestUntil, waitUntil, now + moment);
  }

  /** Until when there is a rest, as whoever has the lead says. */
  heardOfRest(until: number): void {
    this.#restUntil = until;
  }

  /** A row that has a turn was written down, which took so long. */
  written(now: number, tookMs: number): void {
    const weight = Math.exp(-(now - this.#slowestAt) / leadOverMs);
    this.#slowestMs = Math.max(tookMs, this.#slowestMs * weight + tookMs * (1 - weight));
    this.#slowestAt = now;
  }

  /** Rows give up their turns. */
  released(rows: number): void {
    this.#reserved -= rows;
  }

  /** A call that was let in has left; without that time, a call that is made once more has. */
  left(now: number, admittedAt?: number): void {
    if (this.#gap !== undefined) this.#slots.left(now, admittedAt);
  }

  /** A call is over. */
  ended(durationMs: number): void {
    this.#active -= 1;
    this.#visits.ended(durationMs);
  }

  step(now: number, { waiting, ready }: PendingCalls): Step {
    if (waiting + ready === 0) this.#waitingSince = Number.POSITIVE_INFINITY;
    else this.#waitingSince = Math.min(this.#waitingSince, now);
    const lost = this.#slots.drop(now, this.restUntil);
    // A worker that comes late to many of its slots needs no fewer of them.
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
    const left = { waiting: waiting - reserved, ready: ready - admitted };
    const situation = this.#situation(left);
    const visit = this.#visits.next(now, situation);
    const wakeAt = this.#wakeAt(now, left, situation);
    return visit === undefined ? { reserved, admitted, wakeAt } : { reserved, admitted, visit, wakeAt };
  }

  /** The timeline has replied to what was asked at some time. */
  replied(sentAt: number, now: number, reply: SlotReply): void {
    this.#clock.heard(sentAt, now, reply.now);
    if (!this.#visits.replied(sentAt, now, reply.count)) return;
    // A worker that had nothing to call need not hear of what is decided later: it asks again before it calls.
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
    // What came so late belongs to a time that others have counted on.
    if (reply.count > 0 && now - sentAt <= this.#visits.aheadMs(this.#leadMs))
      this.#slots.add(this.#clock.localTime(reply.from), reply.gap, reply.count);
  }

  #mayCall(now: number): boolean {
    if (now >= this.#permittedUntil || now < this.restUntil || this.#active >= this.places) return false;
    return this.#gap === undefined || this.#slots.use(now);
  }

  /** Rows that may have a turn at the moment. */
  #turns(now: number): number {
    if (now >= this.#permittedUntil) return 0;
    if (this.#gap !== undefined) return Math.min(this.places, this.#slots.countUntil(now + this.#leadMs));
    return now < this.restUntil ? 0 : this.#mostBusy - this.#active;
  }

  /** Where no rate is kept: calls in flight, and rows that go out as soon as one of them ends. */
  get #mostBusy(): number {
    return this.places + Math.ceil(this.places * writtenAhead);
  }

  /** How long before its slot a row is written down. */
  get #leadMs(): number {
    return Math.min(this.#slowestMs + spareLeadMs, mostLeadMs);
  }

  /** What the next visit to the timeline goes by. */
  #situation({ waiting }: PendingCalls): WorkerSituation {
    return {
      // Some that have a turn are being written down.
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
