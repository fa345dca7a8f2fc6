import { rateTtlMs, type SlotReply, type SlotRequest } from '../cluster/timeline.ts';
import { HeldSlots } from './held-slots.ts';
import { ServerClock } from './server-clock.ts';
import type { VisitTiming } from './visit-timing.ts';

/**
 * A rest that is longer is not waited for with a row in hand: others must be able to take it back, and what gathers here
 * meanwhile would go out in a burst.
 */
export const patienceMs = 150;

/** What a refusal means is known after the next beat of whoever leads, or soon. */
const considerMs = 50;
const visitSpread = 0.3;
/** A visit without a reply is lost. */
const lostMs = 250;
/** How quickly the measured pace of this worker follows. */
const usedOverMs = 300;
/** More slots than were used of late are asked for when calls wait. */
const growth = 1.5;
const smoothing = 0.2;
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
  readonly visit?: Omit<SlotRequest, 'worker'>;
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
  readonly #random: () => number;
  readonly #slots: HeldSlots;
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
  #visitedAt = Number.NEGATIVE_INFINITY;
  #isVisiting = false;
  #wasGranted = false;
  #repliedTo = Number.NEGATIVE_INFINITY;
  #visitAfterMs = 0;
  #toldNeed = 0;
  #replyMs = 0;
  #latencyMs: number | undefined;
  #usedPerMs = 0;
  #usedAt = 0;
  /** Since when there is always something that wants to be called. */
  #waitingSince = Number.POSITIVE_INFINITY;

  constructor(options: {
    readonly timing: VisitTiming;
    readonly concurrency?: number | undefined;
    readonly random: () => number;
  }) {
    this.#timing = options.timing;
    this.#slots = new HeldSlots(options.timing.lateUse);
    this.#wanted = options.concurrency;
    this.#random = options.random;
  }

  /** Calls that other workers have in flight, as the timeline knew it a moment ago. */
  elsewhere = 0;

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

  /** A call is over. */
  ended(durationMs: number): void {
    this.#active -= 1;
    this.#latencyMs ??= durationMs;
    this.#latencyMs += (durationMs - this.#latencyMs) * smoothing;
  }

  step(now: number, { waiting, ready }: PendingCalls): Step {
    if (waiting + ready === 0) this.#waitingSince = Number.POSITIVE_INFINITY;
    else this.#waitingSince = Math.min(this.#waitingSince, now);
    const lost = this.#slots.drop(now, this.restUntil);
    // A worker that comes late to many of its slots needs no fewer of them.
    this.#count(now, ready > 0 && this.#active < this.places ? lost : 0);
    let admitted = 0;
    while (admitted < ready && this.#mayCall(now)) {
      this.#active += 1;
      this.#reserved -= 1;
      admitted += 1;
    }
    this.#count(now, admitted);
    const reserved = Math.max(0, Math.min(waiting, this.#turns(now) - this.#reserved));
    this.#reserved += reserved;
    const left = { waiting: waiting - reserved, ready: ready - admitted };
    const visit = this.#visit(now, left);
    return { reserved, admitted, ...(visit && { visit }), wakeAt: this.#wakeAt(now, left) };
  }

  /** The timeline has replied to what was asked at some time. */
  replied(sentAt: number, now: number, reply: SlotReply): void {
    this.#clock.heard(sentAt, now, reply.now);
    // A worker that was frozen meanwhile is no farther away than before: it would take slots that lie too far ahead.
    this.#replyMs += (Math.min(now - sentAt, lostMs) - this.#replyMs) * smoothing;
    if (sentAt < this.#repliedTo) return;
    this.#repliedTo = sentAt;
    this.#isVisiting = false;
    this.#permittedUntil = reply.isSet ? sentAt + rateTtlMs : Number.NEGATIVE_INFINITY;
    this.#places = reply.places;
    this.elsewhere = reply.elsewhere;
    this.#gap = reply.gap;
    this.#restUntil = reply.restMs > 0 ? this.#clock.localTime(reply.now) + reply.restMs : 0;
    if (reply.gap === undefined) {
      this.#slots.clear();
      return;
    }
    this.#slots.thinOut(reply.gap);
    // What came so late belongs to a time that others have counted on.
    if (reply.count > 0 && now - sentAt <= this.#aheadMs)
      this.#slots.add(this.#clock.localTime(reply.from), reply.gap, reply.count);
    this.#wasGranted = reply.count > 0;
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

  /** Slots are taken farther ahead from a timeline that is far away. */
  get #aheadMs(): number {
    const { aheadMs, visitMs } = this.#timing;
    return this.#leadMs + Math.max(aheadMs, (1 + visitSpread) * visitMs + 2 * this.#replyMs);
  }

  #visit(now: number, pending: PendingCalls): Step['visit'] {
    const visitAt = this.#visitAt(pending);
    if (now < visitAt) return undefined;
    const waiting = this.#uncalled(pending);
    const need = Math.min(this.#wanted ?? Number.POSITIVE_INFINITY, this.#active + waiting);
    this.#toldNeed = need;
    this.#visitedAt = now;
    this.#isVisiting = true;
    const { visitMs } = this.#timing;
    // This process did not run, else the visit would not be late.
    const since = Math.max(visitAt, this.#waitingSince, this.restUntil);
    const pastMs = Math.min(this.#timing.pastMs, now - since);
    this.#visitAfterMs = visitMs * (1 - visitSpread + 2 * visitSpread * this.#random());
    return {
      want: this.#want(waiting),
      held: this.#slots.count,
      need,
      active: this.#active,
      aheadMs: this.#aheadMs,
      leadInMs: pastMs > 0 ? -pastMs : this.#replyMs + this.#leadMs,
    };
  }

  /** All that want to be called; some that have a turn are being written down. */
  #uncalled({ waiting }: PendingCalls): number {
    return waiting + this.#reserved;
  }

  /** Who has nothing to call says so once, and then nothing. */
  #visitAt(pending: PendingCalls): number {
    if (this.#isVisiting) return this.#visitedAt + lostMs;
    const waiting = this.#uncalled(pending);
    if (waiting === 0 && this.#active === 0 && this.#toldNeed === 0) return Number.POSITIVE_INFINITY;
    const { soonMs } = this.#timing;
    const lacksSlots =
      this.#gap !== undefined &&
      this.#wasGranted &&
      this.#slots.count < waiting &&
      this.#slots.count <= this.#reserved;
    const isStarved = waiting > 0 && (this.places === 0 || this.#toldNeed === 0 || lacksSlots);
    return this.#visitedAt + (isStarved ? soonMs : this.#visitAfterMs);
  }

  /** Slots for the calls that can be made in the time ahead: more would be lost to everybody. */
  #want(waiting: number): number {
    const free = Math.max(0, this.places - this.#active);
    const ends =
      this.#latencyMs === undefined ? 0 : (this.places * this.#aheadMs) / Math.max(this.#latencyMs, 1);
    const used = this.#usedPerMs * this.#aheadMs;
    const demand = waiting > 0 ? Math.max(waiting, Math.ceil(used * growth)) : Math.ceil(used);
    return Math.max(
      0,
      Math.min(Math.floor(free + ends * this.#timing.endsShare), demand) - this.#slots.count,
    );
  }

  #wakeAt(now: number, pending: PendingCalls): number {
    const visitAt = this.#visitAt(pending);
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

  #count(now: number, slots: number): void {
    const weight = Math.exp(-(now - this.#usedAt) / usedOverMs);
    this.#usedPerMs = this.#usedPerMs * weight + slots / usedOverMs;
    this.#usedAt = now;
  }
}
