import type { SlotRequest } from '../cluster/timeline.ts';
import { type LateUse, mostLateMs } from './held-slots.ts';

export interface VisitTiming {
  /** How far ahead slots are taken. */
  readonly aheadMs: number;
  /** Between two visits; varies by `visitSpread`. */
  readonly visitMs: number;
  /** After a visit that left calls waiting. */
  readonly soonMs: number;
  /** Slots given up when a call is refused. Several workers give up none: they would use few windows of a second well. */
  readonly refusedGaps: 0 | 1;
  /**
   * The share of expected ends of calls for which slots are taken: a slot that comes while all places are in use is lost to all workers.
   */
  readonly endsShare: number;
  /** No worker counts slots that move between workers, so a worker that shares a rate uses only some of its lost slots late. */
  readonly lateUse: LateUse;
  /** How far back slots are taken while calls wait; 0 with other workers, which could have used them. */
  readonly pastMs: number;
}

/** In this process, a visit costs nothing, and a change of rate shows at once. */
export const ownTiming: VisitTiming = {
  aheadMs: 20,
  visitMs: 10,
  soonMs: 2,
  refusedGaps: 1,
  endsShare: 1,
  lateUse: { below: 1, upTo: 1, isShared: false },
  pastMs: mostLateMs,
};
/** In Redis: about ten visits a second. */
export const sharedTiming: VisitTiming = {
  aheadMs: 100,
  visitMs: 50,
  soonMs: 15,
  refusedGaps: 0,
  endsShare: 0.5,
  lateUse: { below: 0.5, upTo: 0.9, isShared: true },
  pastMs: 0,
};

/** Between visits, for each worker that wants to call: bounds how often all of them visit (200 workers with one place each, 2,000/s). */
const visitPerCallerMs = 0.5;
/** With more workers, slots come sooner than calls end: a worker takes no more slots than it has free places (100 workers, 2,000/s). */
const crowd = 40;
/** A worker's permission must last longer. */
const mostVisitMs = 1_000;
/** The share by which a visit is early or late, so that workers do not visit together. */
const visitSpread = 0.3;
/** A visit without a reply for this long is lost. */
const lostMs = 250;
/** Time constant of this worker's measured pace. */
const usedOverMs = 300;
/** While calls wait, this many times the recently used slots are asked for. */
const growth = 1.5;
const smoothing = 0.2;

export type Visit = Omit<SlotRequest, 'worker'>;

export interface WorkerSituation {
  /** Rows to call, and how many of them have a turn. */
  readonly uncalled: number;
  readonly reserved: number;
  /** Calls in flight, places, and the user's number of calls. */
  readonly active: number;
  readonly places: number;
  readonly wanted: number;
  readonly slots: number;
  readonly isRateKept: boolean;
  readonly leadMs: number;
  readonly readySince: number;
}

/** Decides when a worker visits the timeline, and for how many slots: as many as it can use until the next visit. */
export class TimelineVisits {
  readonly #timing: VisitTiming;
  readonly #random: () => number;
  #visitedAt = Number.NEGATIVE_INFINITY;
  #isVisiting = false;
  #wasGranted = false;
  #repliedTo = Number.NEGATIVE_INFINITY;
  #spread = 1;
  #sentNeed = 0;
  #replyMs = 0;
  #latencyMs: number | undefined;
  #usedPerMs = 0;
  #usedAt = 0;

  constructor(timing: VisitTiming, random: () => number) {
    this.#timing = timing;
    this.#random = random;
  }

  ended(durationMs: number): void {
    this.#latencyMs ??= durationMs;
    this.#latencyMs += (durationMs - this.#latencyMs) * smoothing;
  }

  used(now: number, slots: number): void {
    const weight = Math.exp(-(now - this.#usedAt) / usedOverMs);
    this.#usedPerMs = this.#usedPerMs * weight + slots / usedOverMs;
    this.#usedAt = now;
  }

  /** @returns whether this is the latest reply: a later visit may have been answered first */
  replied(sentAt: number, now: number, granted: number): boolean {
    // The reply time of a frozen worker does not count: slots would be taken too far ahead.
    this.#replyMs += (Math.min(now - sentAt, lostMs) - this.#replyMs) * smoothing;
    if (sentAt < this.#repliedTo) return false;
    this.#repliedTo = sentAt;
    this.#isVisiting = false;
    this.#wasGranted = granted > 0;
    return true;
  }

  /** As of the last visit. */
  callers = 0;

  /** The timeline knows that this worker has nothing to call. */
  get hasLeft(): boolean {
    return this.#sentNeed === 0;
  }

  /** Farther when replies take longer. */
  aheadMs(leadMs: number): number {
    const { aheadMs, visitMs } = this.#timing;
    return leadMs + Math.max(aheadMs, (1 + visitSpread) * visitMs + 2 * this.#replyMs);
  }

  /** Infinite when there is nothing to call and the timeline knows it. */
  nextAt({ uncalled, reserved, active, places, slots, isRateKept }: WorkerSituation): number {
    if (this.#isVisiting) return this.#visitedAt + lostMs;
    if (uncalled === 0 && active === 0 && this.#sentNeed === 0) return Number.POSITIVE_INFINITY;
    const lacksSlots = isRateKept && this.#wasGranted && slots < uncalled && slots <= reserved;
    const isStarved = uncalled > 0 && (places === 0 || this.#sentNeed === 0 || lacksSlots);
    const afterMs = isStarved ? this.#timing.soonMs : this.#timing.visitMs * this.#spread;
    // A worker's first row does not wait because of other workers.
    const leastMs = this.#sentNeed === 0 ? 0 : this.callers * visitPerCallerMs * this.#spread;
    return this.#visitedAt + Math.max(afterMs, Math.min(leastMs, mostVisitMs));
  }

  next(now: number, situation: WorkerSituation): Visit | undefined {
    const visitAt = this.nextAt(situation);
    if (now < visitAt) return undefined;
    const { uncalled, active, wanted, slots, leadMs, readySince } = situation;
    const { pastMs: mostPastMs } = this.#timing;
    const need = Math.min(wanted, active + uncalled);
    this.#sentNeed = need;
    this.#visitedAt = now;
    this.#isVisiting = true;
    // This process did not run.
    const pastMs = Math.min(mostPastMs, now - Math.max(visitAt, readySince));
    this.#spread = 1 - visitSpread + 2 * visitSpread * this.#random();
    return {
      want: this.#want(situation),
      held: slots,
      need,
      active,
      aheadMs: this.aheadMs(leadMs),
      leadInMs: pastMs > 0 ? -pastMs : this.#replyMs + leadMs,
    };
  }

  /** Slots for calls that can be made in time: further slots would be lost to all workers. */
  #want({ uncalled, active, places, slots, leadMs }: WorkerSituation): number {
    const aheadMs = this.aheadMs(leadMs);
    const free = Math.max(0, places - active);
    const ends = this.#latencyMs === undefined ? 0 : (places * aheadMs) / Math.max(this.#latencyMs, 1);
    const usable = free + ends * this.#timing.endsShare;
    const used = this.#usedPerMs * aheadMs;
    const demand = uncalled > 0 ? Math.max(uncalled, Math.ceil(used * growth)) : Math.ceil(used);
    const most = this.callers > crowd ? Math.max(free, Math.min(usable, 1)) : usable;
    return Math.max(0, Math.min(Math.floor(most), demand) - slots);
  }
}
