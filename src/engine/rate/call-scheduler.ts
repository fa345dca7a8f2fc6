import { rateTtlMs, type SlotReply, type SlotRequest } from '../cluster/timeline.ts';
import { ServerClock } from './server-clock.ts';
import { UnusedSlots } from './unused-slots.ts';

/** Before a longer rest, rows are handed back: other workers can take them, and no burst follows. */
export const patienceMs = 150;

/** Calls wait this long after a refusal: the leader decides meanwhile what it means. */
const considerMs = 50;
/** How much earlier than necessary an intent is written, because timers are late. */
const spareIntentMs = 5;
/** The first guess: no intent was written yet. */
const firstIntentMs = 30;
/** Bounds the slots that a slow datastore costs: a row with an intent and no call is unclear when its worker dies. */
const mostIntentMs = 100;
/** A slow write counts for about this long. */
const slownessMs = 5_000;
/**
 * The share of seats with intents written ahead, so that no seat is empty during a write. These rows count as possibly called when this
 * process dies.
 */
const intentsAheadShare = 0.2;

/** How far ahead slots are taken, or farther when replies take longer. */
const aheadMs = 100;
/** The time between two visits; varies by `visitSpread`, so that workers do not visit together. */
const visitMs = 50;
const visitSpread = 0.3;
/** The time to the next visit after one that gave slots, or all seats that the worker needed, while it can use more. */
const soonVisitMs = 5;
/** A worker with its fair part of the slots of this time visits no sooner. */
const enoughAheadMs = 67;
/** The time between visits for each worker that wants to call: bounds the visits of all (200 workers with one seat each, 2,000/s). */
const visitPerCallerMs = 0.5;
/** The longest time between two visits. A worker's permission to call lasts longer. */
const mostVisitMs = 1_000;
/** A visit without a reply for this long is lost. */
const lostAfterMs = 250;
/** A visit takes slots for this share of the seats: the calls of a worker are spread among those of the others. */
const seatsPerVisit = 0.2;
/** Seats to lease for calls that could be made, so that no slot comes without a seat while a worker gets more rows. */
const sparePlaces = 1.3;
/** The share of expected ends of calls for which slots are taken: a slot that comes while all seats are in use is lost to all workers. */
const endsShare = 0.5;
const smoothing = 0.2;

export type Visit = Omit<SlotRequest, 'worker'>;

export interface PendingCalls {
  readonly waiting: number;
  readonly ready: number;
}

export interface Step {
  /** How many waiting rows may have their intents written now. */
  readonly reserved: number;
  /** One time for each call that leaves now: by when it must have left. */
  readonly admitted: readonly number[];
  /** A visit to make now. Pass its reply to `takeReply`. */
  readonly visit?: Visit | undefined;
  /** When to call `step` again, unless a call begins or ends earlier. */
  readonly wakeAt: number;
}

/**
 * Decides when the calls of one worker leave, and when it visits the timeline for slots and seats: pure, on the clock of the caller.
 *
 * ```
 *   waiting ──▶ reserved ──────▶ ready ──▶ active
 *             a slot is near,   intent   the time of a slot
 *             or a seat free    written  has come
 * ```
 *
 * A row gets its turn early enough to have its intent written at the time of the slot: late calls would be too many in some second. Turns
 * belong to no slot: a late row takes the next slot. There are never more turns than near slots, nor than seats.
 */
export class CallScheduler {
  /** The user's number of calls in flight for this process; undefined: as many as granted. */
  readonly #wantedConcurrency: number | undefined;
  readonly #random: () => number;
  readonly #slots = new UnusedSlots();
  readonly #clock = new ServerClock();
  #active = 0;
  #turns = 0;
  #slowestMs = firstIntentMs - spareIntentMs;
  #slowestAt = Number.NEGATIVE_INFINITY;
  #latencyMs: number | undefined;
  #lastReply: Pick<SlotReply, 'seats' | 'elsewhere' | 'callers' | 'gap'> = {
    seats: 0,
    elsewhere: 0,
    callers: 0,
  };
  #permittedUntil = Number.NEGATIVE_INFINITY;
  #restUntil = Number.NEGATIVE_INFINITY;
  #ownRestUntil = Number.NEGATIVE_INFINITY;
  #lastVisit: Visit = { want: 0, need: 0, active: 0, aheadMs, leadInMs: 0 };
  #visitedAt = Number.NEGATIVE_INFINITY;
  #repliedVisitAt = Number.NEGATIVE_INFINITY;
  #newSlots = 0;
  #replyMs = 0;
  #jitter = 1;

  constructor(options: { readonly concurrency?: number | undefined; readonly random: () => number }) {
    this.#wantedConcurrency = options.concurrency;
    this.#random = options.random;
  }

  /** The calls in flight of other workers, as of the last visit. */
  get elsewhere(): number {
    return this.#lastReply.elsewhere;
  }

  get callers(): number {
    return this.#lastReply.callers;
  }

  get active(): number {
    return this.#active;
  }

  get reserved(): number {
    return this.#turns;
  }

  get seats(): number {
    return this.#wantedConcurrency ?? this.#lastReply.seats;
  }

  get restUntil(): number {
    return Math.max(this.#restUntil, this.#ownRestUntil);
  }

  /**
   * Holds all calls until the asked wait is over and the meaning of the refusal is known. Where a rate is kept, the latter costs at most
   * one slot: an API that refuses half of all calls at any rate would otherwise block calls forever.
   */
  noteRefusal(now: number, waitUntil: number): void {
    const { gap = considerMs } = this.#lastReply;
    this.#ownRestUntil = Math.max(this.#ownRestUntil, waitUntil, now + Math.min(considerMs, gap));
  }

  setCommonRest(until: number): void {
    this.#restUntil = until;
  }

  forgetOwnRest(): void {
    this.#ownRestUntil = Number.NEGATIVE_INFINITY;
  }

  noteWrittenIntent(now: number, tookMs: number): void {
    const weight = Math.exp(-(now - this.#slowestAt) / slownessMs);
    this.#slowestMs = Math.max(tookMs, this.#slowestMs * weight + tookMs * (1 - weight));
    this.#slowestAt = now;
  }

  releaseTurns(rows: number): void {
    this.#turns -= rows;
  }

  /** @param leaveBy as `step` said; absent for a repeated call */
  noteSent(now: number, leaveBy?: number): void {
    if (this.#lastReply.gap !== undefined) this.#slots.noteSent(now, leaveBy);
  }

  noteEnd(durationMs: number): void {
    this.#active -= 1;
    this.#latencyMs ??= durationMs;
    this.#latencyMs += (durationMs - this.#latencyMs) * smoothing;
  }

  step(now: number, { waiting, ready }: PendingCalls): Step {
    this.#slots.drop(now, this.restUntil, this.callers <= 1);
    const admitted: number[] = [];
    while (admitted.length < ready) {
      const leaveBy = this.#leaveBy(now);
      if (leaveBy === undefined) break;
      this.#active += 1;
      this.#turns -= 1;
      admitted.push(leaveBy);
    }
    const reserved = Math.max(0, Math.min(waiting, this.#possibleTurns(now) - this.#turns));
    this.#turns += reserved;
    const pending = { waiting: waiting - reserved, ready: ready - admitted.length };
    const uncalled = pending.waiting + this.#turns;
    const visit = now < this.#visitAt(uncalled) ? undefined : this.#beginVisit(now, uncalled);
    const visitAt = this.#visitAt(uncalled);
    if (now >= this.#permittedUntil) return { reserved, admitted, visit, wakeAt: visitAt };
    const wakeAt = Math.min(visitAt, this.#callAt(now, pending), this.#reserveAt(pending));
    return { reserved, admitted, visit, wakeAt };
  }

  takeReply(sentAt: number, now: number, reply: SlotReply): void {
    this.#clock.measure(sentAt, now, reply.now);
    // The reply time of a frozen worker does not count: slots would be taken too far ahead.
    this.#replyMs += (Math.min(now - sentAt, lostAfterMs) - this.#replyMs) * smoothing;
    // A later visit may have been answered first.
    if (sentAt < this.#repliedVisitAt) return;
    this.#repliedVisitAt = sentAt;
    const { gap, count, from, restMs } = reply;
    // A worker that had nothing to call may have missed decisions: it must ask again first.
    const isPermitted = reply.isSet && this.#lastVisit.need > 0;
    this.#permittedUntil = isPermitted ? sentAt + rateTtlMs : Number.NEGATIVE_INFINITY;
    this.#lastReply = reply;
    this.#newSlots = count;
    this.#restUntil = restMs > 0 ? this.#clock.localTime(reply.now) + restMs : 0;
    if (gap === undefined) {
      this.#slots.clear();
      return;
    }
    this.#slots.thinOut(gap);
    // Slots that arrive later are lost.
    if (now - sentAt <= this.#lastVisit.aheadMs) this.#slots.add(this.#clock.localTime(from), gap, count);
  }

  /** @returns by when a call must leave that is admitted now; undefined: no call may be admitted */
  #leaveBy(now: number): number | undefined {
    if (now >= this.#permittedUntil || now < this.restUntil || this.#active >= this.seats) return undefined;
    return this.#lastReply.gap === undefined ? Number.POSITIVE_INFINITY : this.#slots.use(now);
  }

  #possibleTurns(now: number): number {
    if (now >= this.#permittedUntil) return 0;
    if (this.#lastReply.gap !== undefined)
      return Math.min(this.seats, this.#slots.countUntil(now + this.#intentAheadMs));
    return now < this.restUntil ? 0 : this.#mostRowsInHand - this.#active;
  }

  /** The most rows in hand while no rate is kept. */
  get #mostRowsInHand(): number {
    return this.seats + Math.ceil(this.seats * intentsAheadShare);
  }

  /** How long before its slot an intent is written. */
  get #intentAheadMs(): number {
    return Math.min(this.#slowestMs + spareIntentMs, mostIntentMs);
  }

  #callAt(now: number, { ready }: PendingCalls): number {
    if (ready === 0 || this.#active >= this.seats) return Number.POSITIVE_INFINITY;
    return this.#lastReply.gap === undefined ? this.restUntil : this.#slots.nextAt(now);
  }

  #reserveAt({ waiting }: PendingCalls): number {
    if (waiting === 0) return Number.POSITIVE_INFINITY;
    if (this.#lastReply.gap === undefined)
      return this.#active + this.#turns < this.#mostRowsInHand ? this.restUntil : Number.POSITIVE_INFINITY;
    return this.#turns < this.seats
      ? this.#slots.timeOf(this.#turns) - this.#intentAheadMs
      : Number.POSITIVE_INFINITY;
  }

  /** The time of the next visit. Infinite when there is nothing to call and the timeline knows it. */
  #visitAt(uncalled: number): number {
    if (this.#repliedVisitAt < this.#visitedAt) return this.#visitedAt + lostAfterMs;
    const { need, want } = this.#lastVisit;
    if (uncalled + this.#active + need === 0) return Number.POSITIVE_INFINITY;
    // A worker's first row does not wait because of other workers.
    if (need === 0) return this.#visitedAt + soonVisitMs;
    const { seats, callers, gap } = this.#lastReply;
    const isBehind = gap !== undefined && this.#slots.count * gap * callers < enoughAheadMs;
    const lacksSlots = isBehind && this.#newSlots >= Math.min(1, want) && this.#usableSlots(uncalled) > 0;
    const lacksSeats = seats >= need && this.#seatsFor(uncalled) > need;
    const leastMs = Math.min(callers * visitPerCallerMs, mostVisitMs);
    const pauseMs = Math.max(lacksSlots || lacksSeats ? soonVisitMs : visitMs, leastMs);
    return this.#visitedAt + pauseMs * this.#jitter;
  }

  #seatsFor(uncalled: number): number {
    const own = this.#active + uncalled;
    return Math.min(
      this.#wantedConcurrency ?? Number.POSITIVE_INFINITY,
      own === 0 ? 0 : Math.ceil(own * sparePlaces) + 1,
    );
  }

  /** Slots for calls that can be made in time: further slots would be lost to all workers. */
  #usableSlots(uncalled: number): number {
    const free = Math.max(0, Math.min(uncalled, this.seats - this.#active));
    const ends =
      this.#latencyMs === undefined ? 0 : (this.#active * this.#aheadMs) / Math.max(this.#latencyMs, 1);
    return Math.max(0, Math.floor(free + ends * endsShare) - this.#slots.count);
  }

  get #aheadMs(): number {
    return this.#intentAheadMs + Math.max(aheadMs, (1 + visitSpread) * visitMs + 2 * this.#replyMs);
  }

  #beginVisit(now: number, uncalled: number): Visit {
    this.#visitedAt = now;
    this.#jitter = 1 - visitSpread + 2 * visitSpread * this.#random();
    this.#lastVisit = {
      want: Math.min(Math.ceil(this.seats * seatsPerVisit), this.#usableSlots(uncalled)),
      need: this.#seatsFor(uncalled),
      active: this.#active,
      aheadMs: this.#aheadMs,
      leadInMs: this.#replyMs + this.#intentAheadMs,
    };
    return this.#lastVisit;
  }
}
